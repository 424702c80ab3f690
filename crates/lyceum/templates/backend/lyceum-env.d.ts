// Written by `lyceum dev`: what the routes of this project find, as in
// `export const GET = (c: Context<LyceumEnv>) => c.json(c.get("user"))`, `new Hono<LyceumEnv>()`, or
// `export default { fetch(request: Request, env: LyceumEnv["Bindings"]) { … } }`. Changes here are lost.

/** Calls routes of this project, or of the platform, by their path. */
interface LyceumService {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
}

/** The user whose token came with a request. */
interface LyceumUser {
  sub: string;
  username: string;
  demo: boolean;
  name: string;
  email: string;
  email_verified: boolean;
  given_name?: string;
  family_name?: string;
  lms_id?: string;
}

interface LyceumEnv {
  Bindings: {
    DB: import("@lyceum/sdk/server").D1Database;
    KV: import("@lyceum/sdk/server").KVNamespace;
    BUCKET: import("@lyceum/sdk/server").R2Bucket;
    SELF: LyceumService;
    LYCEUM?: LyceumService;
    GAME_ID: string;
    LYCEUM_BASE_URL: string;
    secrets: { "CODE_KEY": string };
  };
  Variables: {
    user: LyceumUser | null;
    lyceumUser: LyceumUser | null;
    sdk: ReturnType<typeof import("@lyceum/sdk/server").backend>;
  };
}
