// Written by `lyceum dev`: what the routes of this project find, as in
// `export const GET = (c: Context<LyceumEnv>) => c.json(c.get("user"))`, `new Hono<LyceumEnv>()`, or
// `export default { fetch(request: Request, env: LyceumEnv["Bindings"]) { … } }`. Changes here are lost.
type LyceumEnv = import("@lyceum/sdk/server").RouteEnvironment<"DB" | "KV" | "BUCKET", "CODE_KEY">;
