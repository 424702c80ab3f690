// The texts that interactions show and announce. Everything else that students read comes from the item.
import { plural, t } from "../../language.js";

const answers = (count) => plural(count, "one answer", "{n} answers");
const pairs = (count) => plural(count, "one pair", "{n} pairs");
const points = (count) => plural(count, "one point", "{n} points");
const times = (count) => plural(count, "once", "{n} times");

/** How many answers a student gives, as a sentence; empty if one is chosen from a list. `max` 0 means any number. */
export function howMany(min, max) {
  if (max === 1) return "";
  if (max === 0) return min > 0 ? t("Choose at least {answers}.", { answers: answers(min) }) : t("Choose all answers that fit.");
  if (min === max) return t("Choose {answers}.", { answers: answers(max) });
  return min > 0 ? t("Choose {min} to {max} answers.", { min, max }) : t("Choose up to {answers}.", { answers: answers(max) });
}

export const words = {
  // Names.
  answer: (at) => t("Answer {at}", { at }),
  answerField: (at, count) => (count > 1 ? t("Blank {at} of {count}", { at, count }) : t("Your answer")),
  bank: t("To choose from"),
  choices: t("Choices"),
  drawing: t("Drawing"),
  emptyPlace: (place) => t("{place}: put something here", { place }),
  file: t("Your file"),
  gap: (at, count) => (count > 1 ? t("Gap {at} of {count}", { at, count }) : t("The gap")),
  gaps: t("Text with gaps"),
  inPlace: (name, place) => t("{name}, in {place}", { name, place }),
  order: t("Your order"),
  pair: (a, b) => `${a} – ${b}`,
  pairs: t("Pairs"),
  place: (at) => t("Place {at}", { at }),
  point: (at, x, y) => t("Point {at}: {x} across, {y} down", { at, x, y }),
  points: t("Points"),
  putHere: (name, place) => t("Put {name} into {place}", { name, place }),
  recording: t("Recording"),
  removePair: (a, b) => t("Remove the pair {a} and {b}", { a, b }),
  removePoint: (at) => t("Remove point {at}", { at }),
  slider: t("Number on a scale"),
  spot: (at) => t("Place {at}", { at }),
  spots: t("Places on the picture"),
  surface: t("Picture: arrow keys move a cross, Enter sets a point"),
  used: (name) => t("{name}, used", { name }),

  // Help.
  help: {
    "additional-directions": t("Directions"),
    "glossary-on-screen": t("Meaning"),
    "keyword-translation": t("Translation"),
    "linguistic-guidance": t("About the language"),
    "long-description": t("Description"),
    "simplified-language-portions": t("In simpler words"),
    transcript: t("Transcript"),
  },
  helpFor: (text) => t("Help: {text}", { text }),
  moreHelp: t("More help"),

  // Hints.
  choose: t("Choose …"),
  drawingHint: t("Draw with a finger or the mouse. With keys: arrow keys move, Enter puts the pen down or lifts it."),
  graphicOrderHint: t("Choose the places one after the other. Choose a place again to take it out."),
  hotspotHint: t("Choose a place on the picture."),
  hottextHint: t("Choose a part of the text."),
  orderHint: t("Choose an answer, then the place where it belongs. Arrow keys move it, too."),
  orderSomeHint: t("Choose the answers in the right order."),
  pairHint: t("Choose two that belong together."),
  placeHint: t("Choose an answer, then the place where it belongs."),
  pointHint: t("Point at the right place on the picture."),

  // Buttons and states.
  characters: (count, expected) => t("{count} of about {expected} characters", { count, expected }),
  chosenFile: (name) => t("Chosen: {name}", { name }),
  clear: t("Clear"),
  noFile: t("No file yet."),
  notAnswered: t("Not answered yet"),
  plays: (count, max) => (max > 0 ? t("Played {count} of {max} times.", { count, max }) : count > 0 ? t("Played {times}.", { times: times(count) }) : t("Not played yet.")),
  undo: t("Undo"),
  unsupported: t("This part of the question cannot be shown here yet. Tell your guide."),

  // Announcements.
  atPlace: (name, at, count) => t("{name}, place {at} of {count}", { name, at, count }),
  chosenForPair: (name) => t("{name} is chosen. Choose what belongs to it.", { name }),
  cleared: t("The drawing is empty."),
  crossAt: (x, y) => t("{x} across, {y} down", { x, y }),
  drawn: t("Drawn."),
  notNumbered: (name) => t("{name} is taken out.", { name }),
  numbered: (name, at) => t("{name}, number {at}", { name, at }),
  paired: (a, b) => t("{a} and {b} are a pair.", { a, b }),
  pairRemoved: (a, b) => t("{a} and {b} are no longer a pair.", { a, b }),
  penDown: t("The pen is down."),
  penUp: t("The pen is up."),
  pickFirst: t("Choose an answer first."),
  pickedUp: (name) => t("{name} is picked up. Choose a place for it. Escape puts it back.", { name }),
  pickedUpToMove: (name) => t("{name} is picked up. Move it with the arrow keys or choose a place, then press Enter. Escape puts it back.", { name }),
  pointRemoved: t("The point is removed."),
  pointSet: (x, y) => t("Point at {x} across, {y} down", { x, y }),
  putBack: (name) => t("{name} is put back.", { name }),
  putInto: (name, place) => t("{name} is in {place}.", { name, place }),
  takenOut: (name, place) => t("{name} is taken out of {place}.", { name, place }),
  undone: t("Undone."),

  // Messages.
  answerFirst: t("Answer the question first."),
  atLeast: (min) => t("Choose at least {answers}.", { answers: answers(min) }),
  atMost: (max) => t("You can choose at most {answers}. Take one away first.", { answers: answers(max) }),
  atMostPairs: (max) => t("You can make at most {pairs}. Remove one first.", { pairs: pairs(max) }),
  atMostPlaced: (max) => t("You can place at most {answers}. Take one out first.", { answers: answers(max) }),
  atMostPoints: (max) => t("You can set at most {points}. Remove one first.", { points: points(max) }),
  checkAgain: t("If what is shown is your answer, check again."),
  chooseOne: t("Choose an answer."),
  doesNotFit: (name, place) => t("{name} does not go with {place}. Choose another place.", { name, place }),
  fileTooLarge: (max) => t("The file is too large. Choose one with at most {max} MB.", { max }),
  fill: (place) => t("{place} is still empty.", { place }),
  number: t("Write a number, such as 12 or 3.5."),
  otherForm: t("Write the answer in the form that the question asks for."),
  pairAtLeast: (min) => t("Make at least {pairs}.", { pairs: pairs(min) }),
  pairedAlready: t("These two are a pair already."),
  placeAtLeast: (min) => t("Place at least {answers}.", { answers: answers(min) }),
  placeIsFull: (place, max) => t("{place} has room for {answers}. Take one out first.", { place, answers: answers(max) }),
  playAtLeast: (min) => t("Play the recording {times} to its end.", { times: times(min) }),
  playedOften: (max) => t("You can play the recording {times}.", { times: times(max) }),
  setAtLeast: (min) => t("Set at least {points}.", { points: points(min) }),
  usedUp: (name) => t("{name} is used already. Take it out first.", { name }),
  useAtLeast: (name, min) => t("Use {name} at least {times}.", { name, times: times(min) }),
  wholeNumber: t("Write a whole number, such as 12."),
  writeAtLeast: (min) => (min === 1 ? t("Write an answer.") : t("Write at least {min} answers.", { min })),
};
