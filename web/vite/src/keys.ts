import type { CLIShortcut, ViteDevServer } from "vite";

import { Development } from "./development.js";

/** A key, followed by enter, in the terminal in which Vite runs. */
function key(
  letter: string,
  description: string,
  does: (development: Development) => Promise<string>,
): CLIShortcut<ViteDevServer> {
  return {
    key: letter,
    description,
    async action(server) {
      const { logger, root } = server.config;
      try {
        logger.info(await does(Development.of(root)), { timestamp: true });
        server.ws.send({ type: "full-reload" });
      } catch (error) {
        logger.error(`lyceum: ${(error as Error).message}`, { timestamp: true });
      }
    },
  };
}

/** The plugin's own keys. */
export const hotKeys = [
  key("m", "show the game on a platform or alone (Lyceum)", async (development) => {
    development.mode = development.mode === "platform" ? "standalone" : "platform";
    return `lyceum: the game is shown ${development.mode === "platform" ? "on a platform" : "alone"}`;
  }),
  key("d", "make the sandbox's database anew (Lyceum)", async (development) => {
    await development.recreate();
    return "lyceum: the sandbox has a new database";
  }),
  key("p", "take the next role on the platform (Lyceum)", async (development) => {
    return `lyceum: the demo user is now: ${await development.nextPlatformRole()}`;
  }),
  key("t", "take the next learning role (Lyceum)", async (development) => {
    return `lyceum: the learner is a ${await development.nextRole()}`;
  }),
];
