// The texts that interactions show and announce. Everything else that students read comes from the item.

const counted = (count, one, many) => (count === 1 ? `one ${one}` : `${count} ${many}`);
const answers = (count) => counted(count, "answer", "answers");
const pairs = (count) => counted(count, "pair", "pairs");
const points = (count) => counted(count, "point", "points");
const times = (count) => (count === 1 ? "once" : `${count} times`);

/** How many answers a student gives, as a sentence; empty if one is chosen from a list. `max` 0 means any number. */
export function howMany(min, max) {
  if (max === 1) return "";
  if (max === 0) return min > 0 ? `Choose at least ${answers(min)}.` : "Choose all answers that fit.";
  if (min === max) return `Choose ${answers(max)}.`;
  return min > 0 ? `Choose ${min} to ${max} answers.` : `Choose up to ${answers(max)}.`;
}

export const words = {
  // Names.
  answer: (at) => `Answer ${at}`,
  answerField: (at, count) => (count > 1 ? `Blank ${at} of ${count}` : "Your answer"),
  bank: "To choose from",
  choices: "Choices",
  drawing: "Drawing",
  emptyPlace: (place) => `${place}: put something here`,
  file: "Your file",
  gap: (at, count) => (count > 1 ? `Gap ${at} of ${count}` : "The gap"),
  gaps: "Text with gaps",
  inPlace: (name, place) => `${name}, in ${place}`,
  order: "Your order",
  pair: (a, b) => `${a} – ${b}`,
  pairs: "Pairs",
  place: (at) => `Place ${at}`,
  point: (at, x, y) => `Point ${at}: ${x} across, ${y} down`,
  points: "Points",
  putHere: (name, place) => `Put ${name} into ${place}`,
  recording: "Recording",
  removePair: (a, b) => `Remove the pair ${a} and ${b}`,
  removePoint: (at) => `Remove point ${at}`,
  slider: "Number on a scale",
  spot: (at) => `Place ${at}`,
  spots: "Places on the picture",
  surface: "Picture: arrow keys move a cross, Enter sets a point",
  used: (name) => `${name}, used`,

  // Help.
  help: {
    "additional-directions": "Directions",
    "glossary-on-screen": "Meaning",
    "keyword-translation": "Translation",
    "linguistic-guidance": "About the language",
    "long-description": "Description",
    "simplified-language-portions": "In simpler words",
    transcript: "Transcript",
  },
  helpFor: (text) => `Help: ${text}`,
  moreHelp: "More help",

  // Hints.
  choose: "Choose …",
  drawingHint: "Draw with a finger or the mouse. With keys: arrow keys move, Enter puts the pen down or lifts it.",
  graphicOrderHint: "Choose the places one after the other. Choose a place again to take it out.",
  hotspotHint: "Choose a place on the picture.",
  hottextHint: "Choose a part of the text.",
  orderHint: "Choose an answer, then the place where it belongs. Arrow keys move it, too.",
  orderSomeHint: "Choose the answers in the right order.",
  pairHint: "Choose two that belong together.",
  placeHint: "Choose an answer, then the place where it belongs.",
  pointHint: "Point at the right place on the picture.",

  // Buttons and states.
  characters: (count, expected) => `${count} of about ${expected} characters`,
  chosenFile: (name) => `Chosen: ${name}`,
  clear: "Clear",
  noFile: "No file yet.",
  notAnswered: "Not answered yet",
  plays: (count, max) => (max > 0 ? `Played ${count} of ${max} times.` : `Played ${times(count)}.`.replace("0 times", "no time yet")),
  undo: "Undo",
  unsupported: "This part of the question cannot be shown here yet. Tell your guide.",

  // Announcements.
  atPlace: (name, at, count) => `${name}, place ${at} of ${count}`,
  chosenForPair: (name) => `${name} is chosen. Choose what belongs to it.`,
  cleared: "The drawing is empty.",
  crossAt: (x, y) => `${x} across, ${y} down`,
  drawn: "Drawn.",
  notNumbered: (name) => `${name} is taken out.`,
  numbered: (name, at) => `${name}, number ${at}`,
  paired: (a, b) => `${a} and ${b} are a pair.`,
  pairRemoved: (a, b) => `${a} and ${b} are no longer a pair.`,
  penDown: "The pen is down.",
  penUp: "The pen is up.",
  pickFirst: "Choose an answer first.",
  pickedUp: (name) => `${name} is picked up. Choose a place for it. Escape puts it back.`,
  pickedUpToMove: (name) => `${name} is picked up. Move it with the arrow keys or choose a place, then press Enter. Escape puts it back.`,
  pointRemoved: "The point is removed.",
  pointSet: (x, y) => `Point at ${x} across, ${y} down`,
  putBack: (name) => `${name} is put back.`,
  putInto: (name, place) => `${name} is in ${place}.`,
  takenOut: (name, place) => `${name} is taken out of ${place}.`,
  undone: "Undone.",

  // Messages.
  atLeast: (min) => `Choose at least ${answers(min)}.`,
  atMost: (max) => `You can choose at most ${answers(max)}. Take one away first.`,
  atMostPairs: (max) => `You can make at most ${pairs(max)}. Remove one first.`,
  atMostPlaced: (max) => `You can place at most ${answers(max)}. Take one out first.`,
  atMostPoints: (max) => `You can set at most ${points(max)}. Remove one first.`,
  chooseOne: "Choose an answer.",
  doesNotFit: (name, place) => `${name} does not go with ${place}. Choose another place.`,
  fileTooLarge: (max) => `The file is too large. Choose one with at most ${max} MB.`,
  fill: (place) => `${place} is still empty.`,
  number: "Write a number, such as 12 or 3.5.",
  otherForm: "Write the answer in the form that the question asks for.",
  pairAtLeast: (min) => `Make at least ${pairs(min)}.`,
  pairedAlready: "These two are a pair already.",
  placeAtLeast: (min) => `Place at least ${answers(min)}.`,
  placeIsFull: (place, max) => `${place} has room for ${answers(max)}. Take one out first.`,
  playAtLeast: (min) => `Play the recording ${times(min)} to its end.`,
  playedOften: (max) => `You can play the recording ${times(max)}.`,
  setAtLeast: (min) => `Set at least ${points(min)}.`,
  usedUp: (name) => `${name} is used already. Take it out first.`,
  useAtLeast: (name, min) => `Use ${name} at least ${times(min)}.`,
  wholeNumber: "Write a whole number, such as 12.",
  writeAtLeast: (min) => (min === 1 ? "Write an answer." : `Write at least ${min} answers.`),
};
