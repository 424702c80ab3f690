// One item for each interaction, with its correct response and the ways to give it.

function picture(width, height, inside) {
  const size = `width="${width}" height="${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect ${size} fill="#cfe6f5"/>${inside}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
const island = (x, y, radius, colour) => `<circle cx="${x}" cy="${y}" r="${radius}" fill="${colour}"/>`;
const ISLANDS = picture(400, 240, island(80, 80, 40, "#7fb069") + island(220, 150, 45, "#e6aa68") + island(340, 70, 35, "#ca6680"));
const BOAT = picture(40, 40, '<path d="M4 26h32l-6 10H10z" fill="#8a4b2a"/><path d="M19 4v20H8z" fill="#333"/>');
const img = `<img src="${ISLANDS}" alt="Three islands in the sea" width="400" height="240"/>`;

const boat = `<img src="${BOAT}" alt="A boat" width="40" height="40"/>`;

const values = (list) => list.map((value) => `<qti-value>${value}</qti-value>`).join("");

/** An item that gives one point for the correct response. */
export function itemXml(name, { cardinality = "single", baseType = "identifier", correct, body }) {
  const answer = correct ? `<qti-correct-response>${values([correct].flat())}</qti-correct-response>` : "";
  return `<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="${name}" title="${name}" time-dependent="false" xml:lang="en">
  <qti-response-declaration identifier="RESPONSE" cardinality="${cardinality}" base-type="${baseType}">${answer}</qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"><qti-default-value><qti-value>0</qti-value></qti-default-value></qti-outcome-declaration>
  <qti-item-body>${body}</qti-item-body>
  ${correct ? '<qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>' : ""}
</qti-assessment-item>`;
}

const interaction = (kind, attributes, inside) => `<qti-${kind}-interaction response-identifier="RESPONSE" ${attributes}>${inside}</qti-${kind}-interaction>`;
const inlineChoices = (low, high) =>
  `<qti-inline-choice identifier="L">${low}</qti-inline-choice><qti-inline-choice identifier="H">${high}</qti-inline-choice>`;
const quarters = (count) =>
  `<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>${count}</mn><mn>4</mn></mfrac></math>`;
const prompt = (text) => `<qti-prompt>${text}</qti-prompt>`;

/** Presses Tab until an element has the focus. */
async function focus(page, selector) {
  for (let tries = 0; tries < 60; tries += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${selector} cannot be reached by keyboard`);
}

/** Presses keys one after the other; a key `Tab to …` moves the focus to an element. */
const keys =
  (...all) =>
  async (page) => {
    for (const key of all) {
      if (key.startsWith("to ")) await focus(page, key.slice(3));
      else if (key.startsWith("type ")) await page.keyboard.type(key.slice(5));
      else await page.keyboard.press(key);
    }
  };

/** Clicks elements one after the other. */
const clicks =
  (...all) =>
  async (page) => {
    for (const selector of all) await page.locator(selector).click();
  };

/** Taps elements with a finger, one after the other. */
const taps =
  (...all) =>
  async (page) => {
    for (const selector of all) await page.locator(selector).tap();
  };

/** Drags each first element onto the second one. */
const drags =
  (...pairs) =>
  async (page) => {
    for (const [from, to] of pairs) {
      const [a, b] = await Promise.all([from, to].map((selector) => page.locator(selector).boundingBox()));
      await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
      await page.mouse.down();
      await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 4 });
      await page.mouse.up();
    }
  };

/** Clicks points of the picture. */
const points =
  (selector, ...all) =>
  async (page) => {
    const box = await page.locator(selector).boundingBox();
    // Browsers tell where a click was in whole pixels; the nearest one is less than half a pixel away.
    for (const [x, y] of all) await page.mouse.click(Math.floor(box.x + x + 0.49), Math.floor(box.y + y + 0.49));
  };

const GAPS = [0, 1].map((at) => ({ drop: `qti-gap >> nth=${at} >> .qti-drop`, token: `qti-gap >> nth=${at} >> .qti-token` }));
const token = (name) => `.qti-bank .qti-token:has-text("${name}")`;

/**
 * The items by interaction. `byKeys`, `byPointer` and `byTaps` give the correct response from an empty item. `named` are roles with
 * the names that the accessibility tree must have before an answer, and `state` is a property after it.
 */
export const ITEMS = {
  associate: {
    cardinality: "multiple",
    baseType: "pair",
    correct: ["C K", "D P"],
    // A pair is the same in both directions.
    reversed: { "P D": "D P" },
    body: interaction(
      "associate",
      'max-associations="2"',
      `${prompt("Which animals are mother and child?")}
      <qti-simple-associable-choice identifier="C" match-max="1">Cat</qti-simple-associable-choice>
      <qti-simple-associable-choice identifier="D" match-max="1">Dog</qti-simple-associable-choice>
      <qti-simple-associable-choice identifier="K" match-max="1">Kitten</qti-simple-associable-choice>
      <qti-simple-associable-choice identifier="P" match-max="1">Puppy</qti-simple-associable-choice>`,
    ),
    byKeys: keys("to .qti-token", "Enter", "Tab", "Tab", "Enter", "Shift+Tab", "Space", "Tab", "Tab", "Space"),
    byPointer: drags([token("Cat"), token("Kitten")], [token("Dog"), token("Puppy")]),
    byTaps: taps(token("Cat"), token("Kitten"), token("Puppy"), token("Dog")),
    named: { group: ["Which animals are mother and child?"], button: ["Cat", "Dog", "Kitten", "Puppy"] },
    state: { role: "StaticText", name: "Cat – Kitten" },
  },
  choice: {
    correct: "M",
    body: interaction(
      "choice",
      'max-choices="1" class="qti-labels-upper-alpha"',
      `${prompt("Which planet is called the red planet?")}
      <qti-simple-choice identifier="V">Venus</qti-simple-choice><qti-simple-choice identifier="M">Mars</qti-simple-choice>
        <qti-simple-choice identifier="J">Jupiter</qti-simple-choice>`,
    ),
    byKeys: keys("to input[type=radio]", "ArrowDown"),
    byPointer: clicks("label:has-text('Mars')"),
    named: { radiogroup: ["Which planet is called the red planet?"], radio: ["A. Venus", "B. Mars", "C. Jupiter"] },
    state: { role: "radio", name: "B. Mars", checked: "true" },
  },
  "choice-many": {
    cardinality: "multiple",
    correct: ["N2", "N3"],
    body: interaction(
      "choice",
      'max-choices="2" min-choices="2" class="qti-choices-stacking-2"',
      `${prompt("Which numbers are prime?")}
      <qti-simple-choice identifier="N1">1</qti-simple-choice><qti-simple-choice identifier="N2">2</qti-simple-choice>
      <qti-simple-choice identifier="N3">3</qti-simple-choice><qti-simple-choice identifier="N4">4</qti-simple-choice>`,
    ),
    byKeys: keys("to input[type=checkbox]", "Tab", "Space", "Tab", "Space"),
    byPointer: clicks("label:has-text('2')", "label:has-text('3')"),
    named: { group: ["Which numbers are prime?"], checkbox: ["1", "2", "3", "4"] },
    state: { role: "checkbox", name: "3", checked: "true" },
  },
  custom: {
    baseType: "integer",
    correct: "8",
    body: interaction("custom", 'data-module="spider"', "<p>Count the legs of the spider.</p>"),
    byKeys: keys("to textarea", "type 8"),
    byPointer: async (page) => page.fill("textarea", "8"),
    named: { textbox: ["Your answer"] },
    state: { role: "textbox", name: "Your answer", value: "8" },
  },
  drawing: {
    baseType: "file",
    body: interaction("drawing", "", `${prompt("Draw a line from island to island.")}${img}`),
    byKeys: keys("to canvas", "Enter", "ArrowRight", "ArrowRight", "ArrowDown", "Enter"),
    byPointer: async (page) => {
      const { x, y } = await page.locator("canvas").boundingBox();
      await page.mouse.move(x + 80, y + 80);
      await page.mouse.down();
      await page.mouse.move(x + 220, y + 150, { steps: 4 });
      await page.mouse.up();
    },
    named: { group: ["Draw a line from island to island."], application: ["Drawing"], button: ["Undo", "Clear"], image: ["Three islands in the sea"] },
  },
  "extended-text": {
    baseType: "string",
    correct: "It has eight legs.",
    body: interaction("extended-text", 'expected-length="200"', prompt("How do you know that it is a spider?")),
    byKeys: keys("to textarea", "type It has eight legs."),
    byPointer: async (page) => page.fill("textarea", "It has eight legs."),
    named: { textbox: ["How do you know that it is a spider?"] },
    state: { role: "textbox", name: "How do you know that it is a spider?", value: "It has eight legs." },
  },
  "gap-match": {
    cardinality: "multiple",
    baseType: "directedPair",
    correct: ["W G1", "S G2"],
    body: interaction(
      "gap-match",
      "",
      `${prompt("Complete the sentences.")}
      <qti-gap-text identifier="W" match-max="1">winter</qti-gap-text><qti-gap-text identifier="S" match-max="1">summer</qti-gap-text>
        <qti-gap-text identifier="A" match-max="1">autumn</qti-gap-text>
      <p>It snows in <qti-gap identifier="G1"/>. We swim in <qti-gap identifier="G2"/>.</p>`,
    ),
    byKeys: keys("to .qti-bank .qti-token", "Enter", "ArrowRight", "Enter", "Shift+Tab", "Shift+Tab", "Space", "ArrowRight", "ArrowRight", "Space"),
    byPointer: drags([token("winter"), "qti-gap >> nth=0"], [token("summer"), "qti-gap >> nth=1"]),
    // The wrong gap first; what is in a gap is moved like the rest.
    byTaps: taps(token("winter"), GAPS[1].drop, token("summer"), GAPS[0].drop, GAPS[0].token, GAPS[1].token, token("winter"), GAPS[0].drop),
    named: { group: ["Complete the sentences.", "Gap 1 of 2"], button: ["winter", "summer", "Gap 1 of 2: put something here"] },
    state: { role: "button", name: "winter, in Gap 1 of 2" },
  },
  "graphic-associate": {
    cardinality: "multiple",
    baseType: "pair",
    correct: ["A B"],
    body: interaction(
      "graphic-associate",
      'max-associations="1"',
      `${prompt("Connect the green and the orange island.")}${img}
      <qti-associable-hotspot identifier="A" match-max="1" shape="circle" coords="80,80,40" hotspot-label="Green island"/>
      <qti-associable-hotspot identifier="B" match-max="1" shape="circle" coords="220,150,45" hotspot-label="Orange island"/>
      <qti-associable-hotspot identifier="C" match-max="1" shape="circle" coords="340,70,35" hotspot-label="Red island"/>`,
    ),
    byKeys: keys("to .qti-hotspot", "Enter", "Tab", "Space"),
    byPointer: clicks(".qti-hotspot[data-identifier=A]", ".qti-hotspot[data-identifier=B]"),
    named: { group: ["Connect the green and the orange island.", "Places on the picture"], button: ["Green island", "Orange island", "Red island"] },
    state: { role: "StaticText", name: "Green island – Orange island" },
  },
  "graphic-gap-match": {
    cardinality: "multiple",
    baseType: "directedPair",
    correct: ["N A", "S B"],
    body: interaction(
      "graphic-gap-match",
      "",
      `${prompt("Put the names onto the islands.")}${img}
      <qti-gap-text identifier="N" match-max="1">North</qti-gap-text><qti-gap-text identifier="S" match-max="1">South</qti-gap-text>
      <qti-associable-hotspot identifier="A" match-max="1" shape="rect" coords="30,55,130,105" hotspot-label="Green island"/>
      <qti-associable-hotspot identifier="B" match-max="1" shape="rect" coords="170,125,270,175" hotspot-label="Orange island"/>`,
    ),
    byKeys: keys("to .qti-bank .qti-token", "Enter", "ArrowDown", "Enter", "Shift+Tab", "Space", "ArrowDown", "ArrowDown", "Space"),
    byPointer: drags([token("North"), ".qti-spot >> nth=0"], [token("South"), ".qti-spot >> nth=1"]),
    named: { group: ["Put the names onto the islands.", "Green island"], button: ["North", "South", "Orange island: put something here"] },
    state: { role: "button", name: "South, in Orange island" },
  },
  "graphic-order": {
    cardinality: "ordered",
    correct: ["C", "A", "B"],
    body: interaction(
      "graphic-order",
      "",
      `${prompt("Visit the islands: first red, then green, then orange.")}${img}
      <qti-hotspot-choice identifier="A" shape="circle" coords="80,80,40" hotspot-label="Green island"/>
      <qti-hotspot-choice identifier="B" shape="ellipse" coords="220,150,45,45" hotspot-label="Orange island"/>
      <qti-hotspot-choice identifier="C" shape="poly" coords="305,70,340,35,375,70,340,105,305,70" hotspot-label="Red island"/>`,
    ),
    byKeys: keys("to .qti-hotspot[data-identifier=C]", "Enter", "Shift+Tab", "Shift+Tab", "Space", "Tab", "Space"),
    byPointer: clicks(".qti-hotspot[data-identifier=C]", ".qti-hotspot[data-identifier=A]", ".qti-hotspot[data-identifier=B]"),
    named: { group: ["Visit the islands: first red, then green, then orange."], button: ["Green island", "Orange island", "Red island"] },
    state: { role: "button", name: "Red island, number 1", pressed: "true" },
  },
  hotspot: {
    correct: "B",
    body: interaction(
      "hotspot",
      'max-choices="1"',
      `${prompt("Which island is orange?")}${img}
      <qti-hotspot-choice identifier="A" shape="circle" coords="80,80,40" hotspot-label="Island in the west"/>
      <qti-hotspot-choice identifier="B" shape="circle" coords="220,150,45" hotspot-label="Island in the south"/>
      <qti-hotspot-choice identifier="C" shape="rect" coords="305,35,375,105" hotspot-label="Island in the east"/>`,
    ),
    byKeys: keys("to .qti-hotspot[data-identifier=B]", "Space"),
    byPointer: clicks(".qti-hotspot[data-identifier=B]"),
    named: { group: ["Which island is orange?"], checkbox: ["Island in the west", "Island in the south", "Island in the east"], image: ["Three islands in the sea"] },
    state: { role: "checkbox", name: "Island in the south", checked: "true" },
  },
  hottext: {
    correct: "V",
    body: interaction(
      "hottext",
      'max-choices="1"',
      `${prompt("Choose the verb.")}
      <p>The <qti-hottext identifier="N">dog</qti-hottext> <qti-hottext identifier="V">sleeps</qti-hottext> in the <qti-hottext identifier="S">sun</qti-hottext>.</p>`,
    ),
    byKeys: keys("to qti-hottext", "Tab", "Space"),
    byPointer: clicks("qti-hottext:has-text('sleeps')"),
    named: { group: ["Choose the verb."], checkbox: ["dog", "sleeps", "sun"] },
    state: { role: "checkbox", name: "sleeps", checked: "true" },
  },
  "inline-choice": {
    correct: "H",
    body: `<p>Three quarters are ${interaction("inline-choice", "", inlineChoices("less", "more"))} than one half.</p>`,
    byKeys: keys("to qti-inline-choice-interaction select", "type m"),
    byPointer: async (page) => page.selectOption("qti-inline-choice-interaction select", "H"),
    named: { combobox: ["Your answer"] },
    state: { role: "combobox", name: "Your answer", value: "more" },
  },
  "inline-choice-formulas": {
    correct: "H",
    body: `<p>Less than one half: ${interaction("inline-choice", "", inlineChoices(quarters(3), quarters(1)))}</p>`,
    byKeys: keys("to .qti-open", "Enter", "ArrowDown", "Enter"),
    byPointer: clicks(".qti-open", "[role=option] >> nth=1"),
    named: { combobox: ["Your answer"] },
  },
  match: {
    cardinality: "multiple",
    baseType: "directedPair",
    correct: ["F M", "H B"],
    body: interaction(
      "match",
      'max-associations="2"',
      `${prompt("What do they eat?")}
      <qti-simple-match-set><qti-simple-associable-choice identifier="F" match-max="1">Flies</qti-simple-associable-choice>
        <qti-simple-associable-choice identifier="H" match-max="1">Honey</qti-simple-associable-choice></qti-simple-match-set>
      <qti-simple-match-set><qti-simple-associable-choice identifier="M" match-max="1">Frog</qti-simple-associable-choice>
        <qti-simple-associable-choice identifier="B" match-max="1">Bear</qti-simple-associable-choice></qti-simple-match-set>`,
    ),
    byKeys: keys("to .qti-bank .qti-token", "Enter", "ArrowDown", "Enter", "Shift+Tab", "Space", "ArrowDown", "ArrowDown", "Space"),
    byTaps: taps(token("Flies"), ".qti-target >> nth=0 >> .qti-drop", token("Honey"), ".qti-target >> nth=1 >> .qti-drop"),
    byPointer: drags([token("Flies"), ".qti-target >> nth=0 >> .qti-drop"], [token("Honey"), ".qti-target >> nth=1 >> .qti-drop"]),
    named: { group: ["What do they eat?", "Frog", "Bear"], button: ["Flies", "Honey", "Frog: put something here"] },
    state: { role: "button", name: "Honey, in Bear" },
  },
  "match-table": {
    cardinality: "multiple",
    baseType: "directedPair",
    correct: ["E T", "O F"],
    body: interaction(
      "match",
      'max-associations="2" class="qti-match-tabular"',
      `${prompt("True or false?")}
      <qti-simple-match-set><qti-simple-associable-choice identifier="E" match-max="1">8 is even</qti-simple-associable-choice>
        <qti-simple-associable-choice identifier="O" match-max="1">6 is odd</qti-simple-associable-choice></qti-simple-match-set>
      <qti-simple-match-set><qti-simple-associable-choice identifier="T" match-max="0">True</qti-simple-associable-choice>
        <qti-simple-associable-choice identifier="F" match-max="0">False</qti-simple-associable-choice></qti-simple-match-set>`,
    ),
    byKeys: keys("to input[type=radio]", "Space", "Tab", "ArrowRight"),
    byPointer: clicks("[aria-label='8 is even: True']", "[aria-label='6 is odd: False']"),
    named: { group: ["True or false?"], radio: ["8 is even: True", "6 is odd: False"], columnheader: ["True", "False"], rowheader: ["8 is even", "6 is odd"] },
    state: { role: "radio", name: "8 is even: True", checked: "true" },
  },
  media: {
    baseType: "integer",
    correct: "1",
    body: interaction("media", 'autostart="false" min-plays="1"', `${prompt("Listen to the tone.")}<audio src="data:audio/wav;base64,${silence()}"/>`),
    byKeys: async (page) => {
      await focus(page, "audio");
      await page.keyboard.press("Space");
      await page.waitForFunction(() => document.querySelector("qti-media-interaction").value === 1);
    },
    named: { group: ["Listen to the tone."] },
  },
  order: {
    cardinality: "ordered",
    correct: ["S", "P", "F"],
    body: interaction(
      "order",
      'shuffle="false"',
      `${prompt("How does an apple grow?")}
      <qti-simple-choice identifier="F">Fruit</qti-simple-choice><qti-simple-choice identifier="S">Seed</qti-simple-choice>
        <qti-simple-choice identifier="P">Plant</qti-simple-choice>`,
    ),
    byKeys: keys("to .qti-step .qti-token", "Space", "ArrowDown", "ArrowDown", "Enter"),
    byPointer: drags([".qti-step >> nth=0 >> .qti-grip", ".qti-step >> nth=2"]),
    byTaps: taps(".qti-step >> nth=0 >> .qti-token", ".qti-step >> nth=2 >> .qti-token"),
    named: { group: ["How does an apple grow?"], list: ["Your order"], button: ["Fruit, place 1 of 3", "Seed, place 2 of 3"] },
    state: { role: "button", name: "Fruit, place 3 of 3" },
  },
  "order-some": {
    cardinality: "ordered",
    correct: ["A", "B"],
    body: interaction(
      "order",
      'shuffle="false" min-choices="2" max-choices="2" orientation="horizontal"',
      `${prompt("Which two letters come first?")}
      <qti-simple-choice identifier="B">b</qti-simple-choice><qti-simple-choice identifier="Z">z</qti-simple-choice><qti-simple-choice identifier="A">a</qti-simple-choice>`,
    ),
    byKeys: keys("to .qti-bank .qti-step:nth-child(3) .qti-token", "Enter", "Shift+Tab", "Shift+Tab", "Enter"),
    byPointer: clicks(".qti-bank .qti-token:has-text('a')", ".qti-bank .qti-token:has-text('b')"),
    named: { group: ["Which two letters come first?", "To choose from"], button: ["a", "b", "z"] },
    state: { role: "button", name: "a, place 1 of 2" },
  },
  "position-object": {
    baseType: "point",
    correct: "220 150",
    body: `<qti-position-object-stage>${img}${interaction("position-object", 'max-choices="1"', boat)}</qti-position-object-stage>`,
    byKeys: keys("to .qti-surface", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"),
    byPointer: points(".qti-surface", [220, 150]),
    named: { application: ["Picture: arrow keys move a cross, Enter sets a point"], image: ["Three islands in the sea", "A boat"] },
    state: { role: "StaticText", name: "Point 1: 220 across, 150 down" },
  },
  "select-point": {
    baseType: "point",
    correct: "220 150",
    body: interaction("select-point", 'max-choices="1"', `${prompt("Where is the orange island?")}${img}`),
    byKeys: keys("to .qti-surface", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"),
    byPointer: points(".qti-surface", [220, 150]),
    named: { group: ["Where is the orange island?"], application: ["Picture: arrow keys move a cross, Enter sets a point"] },
    state: { role: "StaticText", name: "Point 1: 220 across, 150 down" },
  },
  slider: {
    baseType: "integer",
    correct: "7",
    body: interaction("slider", 'lower-bound="0" upper-bound="10" step="1" step-label="true"', prompt("How many days has a week?")),
    byKeys: keys("to input[type=range]", "ArrowRight", "ArrowRight"),
    byPointer: async (page) => {
      const { x, y, width, height } = await page.locator("input[type=range]").boundingBox();
      await page.mouse.click(x + 8 + (width - 16) * 0.7, y + height / 2);
    },
    named: { group: ["How many days has a week?"], slider: ["How many days has a week?"] },
    state: { role: "slider", name: "How many days has a week?", value: "7" },
  },
  "text-entry": {
    baseType: "integer",
    correct: "56",
    body: `<p>Seven times eight is ${interaction("text-entry", 'expected-length="3"', "")}.</p>`,
    byKeys: keys("to input[type=text]", "type 56"),
    byPointer: async (page) => page.fill("input[type=text]", "56"),
    named: { textbox: ["Your answer"] },
    state: { role: "textbox", name: "Your answer", value: "56" },
  },
  upload: {
    baseType: "file",
    body: interaction("upload", 'type="text/plain"', prompt("Hand in your report.")),
    byKeys: async (page) => {
      const chooser = page.waitForEvent("filechooser");
      await focus(page, "input[type=file]");
      await page.keyboard.press("Enter");
      await (await chooser).setFiles({ name: "report.txt", mimeType: "text/plain", buffer: Buffer.from("It rained.") });
      await page.waitForFunction(() => document.querySelector("qti-upload-interaction").value);
    },
    named: { group: ["Hand in your report."], button: ["Hand in your report."] },
  },
};

/** An item with a formula, help for words, spoken texts, limits and a picture on another server. */
export const READING = `<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="reading" title="Reading" time-dependent="false" xml:lang="en">
  <qti-response-declaration identifier="CODE" cardinality="single" base-type="string"/>
  <qti-response-declaration identifier="MANY" cardinality="multiple" base-type="identifier"/>
  <qti-response-declaration identifier="END" cardinality="single" base-type="boolean"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body>
    <p data-catalog-idref="say">A <span data-catalog-idref="word">fraction</span> is
      <math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>3</mn><mn>4</mn></mfrac><mo>+</mo><msup><mi>x</mi><mn>2</mn></msup></math>.</p>
    <p><img src="https://pictures.example.org/cake.png" alt="A cake in four parts"/></p>
    <p>Two digits: <qti-text-entry-interaction response-identifier="CODE" pattern-mask="[0-9]{2}" data-patternmask-message="Write two digits."/></p>
    <qti-choice-interaction response-identifier="MANY" max-choices="2" data-max-selections-message="Only two.">
      <qti-prompt>Choose.</qti-prompt><qti-simple-choice identifier="A">one</qti-simple-choice>
        <qti-simple-choice identifier="B">two</qti-simple-choice><qti-simple-choice identifier="C">three</qti-simple-choice>
    </qti-choice-interaction>
    <p><qti-end-attempt-interaction response-identifier="END" title="Hint"/></p>
    <p dir="rtl" lang="ar">مرحبا</p>
  </qti-item-body>
  <qti-catalog-info>
    <qti-catalog id="word"><qti-card support="glossary-on-screen"><qti-html-content><p>A part of a whole</p></qti-html-content></qti-card>
      <qti-card support="keyword-translation"><qti-card-entry xml:lang="de"><qti-html-content><p>Bruch</p></qti-html-content></qti-card-entry></qti-card></qti-catalog>
    <qti-catalog id="say"><qti-card support="spoken"><qti-html-content><p>A fraction is three quarters and so on.</p></qti-html-content></qti-card></qti-catalog>
  </qti-catalog-info>
</qti-assessment-item>`;

/** A tenth of a second of silence, as a WAV file in Base64. */
function silence() {
  const samples = 800;
  const wav = Buffer.alloc(44 + samples, 128);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(36 + samples, 4);
  wav.write("WAVEfmt ", 8);
  for (const [at, value, size] of [[16, 16, 4], [20, 1, 2], [22, 1, 2], [24, 8000, 4], [28, 8000, 4], [32, 1, 2], [34, 8, 2]]) wav.writeUIntLE(value, at, size);
  wav.write("data", 36);
  wav.writeUInt32LE(samples, 40);
  return wav.toString("base64");
}
