// What the tests of all screens share: one server with a demo network, people of each role, a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { STEP_MAX_MS, launch, takePicture } from "../chromium.js";
import { Server, binary, folder, within } from "../server.js";
import { fill, stranger } from "./data.js";

export const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const PASSWORD = "correct horse";
const ROLES = ["administrator", "guide", "developer"];
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
/** Each page is shown in all of these. axe-core checks those that have a turn: at full size both, otherwise one of them, alternating from page to page. */
const LOOKS = [
  { viewport: WIDE, colorScheme: "light", axeTurn: 0 },
  { viewport: WIDE, colorScheme: "dark" },
  { viewport: NARROW, colorScheme: "light" },
  { viewport: NARROW, colorScheme: "dark", axeTurn: 1 },
];
const isFull = process.env.LYCEUM_TEST_SIZE === "full";
let inspectedCount = 0;
/** Pages that are looked at at a time, while the tests go on. */
const LOOKS_AT_ONCE = 2;
/** A look takes a second or two. The browser's own protocol has no time limit. */
const LOOK_MAX_MS = 60_000;
/** Lists with more rows are not read whole at each look. */
const COMPARED_MAX_ROWS = 5000;
/** Columns of numbers behind which there is nothing but their row. */
const ROWS_ALONE = ["Line", "Number", "Points", "Rows", "Score so far", "Try"];
/** Students of the demo network: as many as are promised where time does not count. */
export const STUDENTS = isFull ? 2000 : 120;
/** A zone in which it is about noon, so that a day neither begins nor ends while the tests run. */
const offset = 12 - new Date().getUTCHours();
export const ZONE = offset === 0 ? "UTC" : `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;

/** Makes an account of that role on the server and signs in with it. */
export async function signIn(page, server, role) {
  const person = ["admin", "user", "create", `${role}@example.org`, "--name", `Robin ${role}`, "--role", role];
  await page.goto(server.lyceum(...person).trim().replace(/^http:\/\/[^/]+/, server.base));
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.startsWith("/welcome"));
  await page.context().addCookies([{ name: "lyceum-zone", value: ZONE, url: server.base }]);
}

/** What the zone's clocks are ahead of UTC, as ISO 8601 writes it. */
export const OFFSET = `${offset < 0 ? "-" : "+"}${String(Math.abs(offset)).padStart(2, "0")}:00`;

/** A server with a demo network, and a browser with a page for each role. */
export class Console {
  /** Looks that go on: each resolves with what is wrong, if anything is. */
  #looks = [];
  #running = new Set();
  /** Tabs for the next looks. Each has a window of its own, because tabs of one window share its size. */
  #tabs = [];

  static async start(t) {
    const kit = new Console();
    const file = join(folder(), "network.zip");
    execFileSync(binary, ["demo", "generate", "--complete", "--students", String(STUDENTS), "--out", file, "--quiet"]);
    kit.server = await Server.start(t, (server) => {
      server.env = { LYCEUM_WEBHOOKS__ALLOW: "127.0.0.1", LYCEUM_SERVER__TIME_ZONE: ZONE };
      server.lyceum("import", file, "--quiet");
    });
    kit.students = await fill(kit.server, ZONE);
    kit.browser = await launch(t);
    kit.pages = {};
    for (const role of ROLES) {
      kit.pages[role] = await kit.newPage(t);
      await signIn(kit.pages[role].page, kit.server, role);
    }
    return kit;
  }

  /** A page of a browser of its own, and what went wrong on it: errors, requests to other hosts. */
  async newPage(t, options = {}) {
    const context = await this.browser.newContext({ baseURL: this.server.base, viewport: WIDE, timezoneId: ZONE, ...options });
    t.after(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MAX_MS);
    const faults = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(options.baseURL ?? this.server.base) && !url.startsWith("data:")) faults.push(`request to ${url}`);
    });
    return { page, faults };
  }

  /** The page of somebody with that role, at the path. */
  async open(path, role = "administrator") {
    const { page, faults } = this.pages[role];
    faults.length = 0;
    await page.goto(path);
    assert.deepEqual(faults, [], path);
    return page;
  }

  /** Opens a page and looks at it, in a tab of its own while the test goes on: nothing goes wrong, nothing is cut off,
   * axe-core finds no serious fault, on small and large screens, light and dark.
   * {@link looked} tells what was seen. Answers the page. */
  async look(name, path, role = "administrator", status = 200) {
    await this.lookAt(name, path, this.pages[role], status);
    return this.pages[role].page;
  }

  /** Does the same with another browser's page. Browsers report an answer with another status than 200 as an error. */
  async lookAt(name, path, { page, faults }, status = 200) {
    faults.length = 0;
    const answer = await page.goto(path);
    assert.equal(answer.status(), status, path);
    assert.deepEqual(
      faults.filter((fault) => status === 200 || !fault.includes(`status of ${status}`)),
      [],
      path,
    );
    await areExported(page);
    while (this.#running.size >= LOOKS_AT_ONCE) await Promise.race(this.#running);
    const tab = this.#tabs.pop() ?? (await (await this.browser.newContext({ timezoneId: ZONE })).newPage());
    await tab.setViewportSize(WIDE);
    await tab.context().clearCookies();
    await tab.context().addCookies(await page.context().cookies());
    await tab.goto(page.url());
    const look = within(inspect(tab, name), `the look at ${name}`, LOOK_MAX_MS).then(
      () => void this.#tabs.push(tab),
      (fault) => fault,
    );
    this.#looks.push(look);
    const running = look.then(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for the looks that go on, and fails where one saw something wrong. */
  async looked() {
    const faults = (await Promise.all(this.#looks.splice(0))).filter((fault) => fault);
    if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults, faults.map(({ message }) => message).join("\n"));
  }

  /** Looks at what is open on a page now. */
  async lookHere(name, page) {
    await inspect(page, name);
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: "light" });
  }

  /** What the API answers a client that may do everything. */
  api(path) {
    return this.server.call("GET", path);
  }

  /** How many events there are. */
  async counts() {
    const { pagination } = await this.api("/caliper/events?limit=1");
    return { events: pagination.total };
  }

  /** An event of somebody whom the roster does not know. */
  stranger() {
    return stranger(this.server);
  }

  /** The rows of the list on a page, all of them, by its export. */
  async exported(path, role = "administrator") {
    const url = new URL(path, this.server.base);
    url.searchParams.set("export", "json");
    return (await this.pages[role].page.request.get(url.href, { timeout: 60_000 })).json();
  }

  /** What the API says that a student did in these days. */
  activity(id, startDate, endDate) {
    const query = new URLSearchParams({ studentId: id, startDate, endDate, timezone: ZONE });
    return this.api(`/bridge/analytics/activity?${query}`);
  }

  /** The sums of {@link activity}, of one subject or of all. */
  async sums(id, from, to, only) {
    const { facts } = await this.activity(id, from, to);
    const sums = { xp: 0, questions: 0, correct: 0 };
    for (const day of Object.values(facts)) {
      for (const [subject, { activityMetrics }] of Object.entries(day)) {
        if (only && subject !== only) continue;
        sums.xp += activityMetrics.xpEarned;
        sums.questions += activityMetrics.totalQuestions;
        sums.correct += activityMetrics.correctQuestions;
      }
    }
    return sums;
  }
}

/** Looks at an open page in all ways. */
async function inspect(page, name) {
  await page.evaluate(axe);
  const current = inspectedCount++ % 2;
  for (const { viewport, colorScheme, axeTurn } of LOOKS) {
    const isRead = axeTurn === current || (isFull && axeTurn !== undefined);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await isTidy(page, isRead);
    await takePicture(page, `${name}-${viewport.width}-${colorScheme}`);
  }
}

/** What fingers must hit on a small screen. Links within a text may be smaller. */
const TARGETS = [
  "button, .button, summary, select, textarea, input:not([type=hidden], [type=checkbox], [type=radio])",
  "#navigation li a, .tabs a, .pages a, .exports a, .choose a, .find-icon, .find-field, [role=option]",
  "table:has(td[data-label]) tbody :is(th, td:first-child) > a",
].join();
const TARGET_MIN_PX = 44;

/** What is shown fits the screen and can be read by everybody. */
async function isTidy(page, isRead) {
  const seen = await page.evaluate(async ({ isRead, TARGETS, TARGET_MIN_PX }) => {
    const { violations } = isRead ? await window.axe.run(document, { resultTypes: ["violations"] }) : { violations: [] };
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    const told = ({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" | ")}`;
    const root = document.documentElement;
    // Tables fit; a heat map of many days is scrolled.
    const tables = [...document.querySelectorAll(".scroll:has(table:not(.heat))")].filter((part) => part.scrollWidth > part.clientWidth);
    const cut = tables.map((part) => `${part.getAttribute("aria-label")} is ${part.scrollWidth - part.clientWidth} px too wide`);
    const isSmall = (one) => one.checkVisibility() && !one.closest(".unseen, .skip, .item") && one.getBoundingClientRect().height < TARGET_MIN_PX - 0.5;
    const targets = innerWidth < 720 ? [...document.querySelectorAll(TARGETS)].filter(isSmall) : [];
    const small = [...new Set(targets.map((one) => `${one.outerHTML.slice(0, 90)}: ${one.getBoundingClientRect().height} px`))].slice(0, 5);
    return { cut, small, faults: serious.map(told), wide: root.scrollWidth - root.clientWidth, headings: document.querySelectorAll("h1").length };
  }, { isRead, TARGETS, TARGET_MIN_PX });
  assert.deepEqual(seen, { cut: [], small: [], faults: [], wide: 0, headings: 1 }, `${page.url()}, ${page.viewportSize().width} px wide`);
}

/** The numbers of a list are those of its file, each with what is behind it. */
async function areExported(page) {
  const list = page.locator(".list").first();
  if ((await list.locator("table").count()) === 0) return;
  const shown = await list.evaluate((list) => {
    const heads = [...list.querySelectorAll("thead th")];
    const rows = [...list.querySelectorAll("tbody tr")].map((row) =>
      heads.map((head, at) => ({ text: row.cells[at].textContent, isLink: !!row.cells[at].querySelector("a") })),
    );
    const columns = heads.map((head) => ({
      name: head.textContent,
      isNumber: head.classList.contains("number"),
      key: new URLSearchParams(head.querySelector("a")?.search).get("sort")?.replace("-", ""),
    }));
    const [, total] = list.querySelector(".pages span").textContent.split("of");
    return { columns, rows, total: Number(total.replaceAll(",", "")), file: list.querySelector(".exports a:last-child").href };
  });
  if (shown.total > COMPARED_MAX_ROWS) return;
  const file = await (await page.request.get(shown.file)).json();
  assert.equal(file.length, shown.total, page.url());
  const first = (Number(new URL(page.url()).searchParams.get("page") ?? 1) - 1) * 50;
  shown.columns.forEach(({ name, isNumber, key }, at) => {
    if (!isNumber) return;
    shown.rows.forEach((row, place) => {
      const [{ text, isLink }, value] = [row[at], file[first + place][key]];
      const told = `${name} of row ${place + 1} of ${page.url()}: ${text} of ${value}`;
      if (typeof value !== "number") return;
      assert.ok(isLink || ROWS_ALONE.includes(name), `${told} leads nowhere`);
      if (!/[a-z]/i.test(text)) assert.ok(Math.abs(numberOf(text) - value) < (text.endsWith("%") ? 0.501 : 0.051), told);
    });
  });
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page, selector, atMost = 60) {
  for (let tries = 0; tries < atMost; tries += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${selector} cannot be reached by keyboard`);
}

/** A number as the console writes it, read back. */
export const numberOf = (text) => Number(text.replaceAll(/[,\s%]|XP|min/g, "").replace("−", "-"));
