import type { components } from "./api.js";

/** The bodies of requests and answers, by their names in the server's API document. */
export type Schemas = components["schemas"];
