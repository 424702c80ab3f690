import { init } from "@lyceum/sdk";
import { createRoot } from "react-dom/client";

import { App } from "./app";

// `init` finds the server and the player: the sandbox's demo user now, the signed-in student after a deploy.
const lyceum = await init();
const player = lyceum.isDemo ? "visitor" : (await lyceum.users.me()).username;

createRoot(document.querySelector("main")!).render(<App lyceum={lyceum} player={player} />);
