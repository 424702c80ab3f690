/** How the game is shown in development. */
export type Mode = "platform" | "standalone";

/** What a learner is to the school. */
export const LEARNING_ROLES = ["student", "parent", "teacher", "administrator", "guardian"] as const;
export type LearningRole = (typeof LEARNING_ROLES)[number];

/** What the demo user is on the platform. */
export const PLATFORM_ROLES = ["player", "developer", "admin"] as const;
export type PlatformRole = (typeof PLATFORM_ROLES)[number];

/** What the plugin can be told; all of it is optional. */
export interface Options {
  /**
   * `platform` (usual): a page embeds the game as a platform does, with the messages of the SDK.
   * `standalone`: the game is the page. The key `m` changes it.
   */
  mode?: Mode;
  export?: {
    /** Whether `vite build` packs its output into `.lyceum/<slug>.zip`; it does unless false. */
    autoZip?: boolean;
  };
  sandbox?: {
    /** Whether the plugin starts a sandbox; it does unless false. */
    autoStart?: boolean;
    /** A sandbox that runs already; none is started. */
    url?: string;
    /** Shows what the sandbox says. */
    verbose?: boolean;
    /** How much it says: `error`, `warn`, `info`, `debug`, `trace`. */
    logLevel?: "error" | "warn" | "info" | "debug" | "trace";
    /** Makes the database anew when the development server starts. */
    recreateDb?: boolean;
    /** Whether there is demo data; there is unless false. */
    seed?: boolean;
    /** Keeps nothing. */
    memoryOnly?: boolean;
    /** The file of the database. By default `.lyceum/sandbox.db`. */
    databasePath?: string;
    /** The role of the demo user on the platform. By default a developer. The key `p` changes it. */
    role?: PlatformRole;
  };
  backend?: {
    /** Whether the plugin serves `server/api` with `lyceum dev`; it does where there is such a folder, unless false. */
    autoStart?: boolean;
    /** A backend that runs already, as `http://localhost:8788`; none is started. */
    url?: string;
  };
  /** The learning integration. By default that of the project's config. */
  learning?: {
    /** Uses a Lyceum server beside the sandbox. */
    local?: boolean;
    /** The student whom the demo user is. */
    id?: string;
    role?: LearningRole;
    courseId?: string;
    onerosterUrl?: string;
    caliperUrl?: string;
    organization?: { id?: string; name?: string; type?: string };
  };
}

/** The sandbox's flags that follow from the options. */
export function flags(options: Options): string[] {
  const { sandbox = {}, learning = {} } = options;
  const { organization = {} } = learning;
  const switches: [string, boolean | undefined][] = [
    ["--verbose", sandbox.verbose],
    ["--no-seed", sandbox.seed === false],
    ["--memory", sandbox.memoryOnly],
    ["--tracking-local", learning.local],
  ];
  const values: [string, string | undefined][] = [
    ["--db-path", sandbox.databasePath],
    ["--platform-role", sandbox.role],
    ["--tracking-student-id", learning.id],
    ["--tracking-role", learning.role],
    ["--tracking-course-id", learning.courseId],
    ["--tracking-oneroster-url", learning.onerosterUrl],
    ["--tracking-caliper-url", learning.caliperUrl],
    ["--tracking-org-id", organization.id],
    ["--tracking-org-name", organization.name],
    ["--tracking-org-type", organization.type],
  ];
  return [
    ...switches.filter(([, on]) => on).map(([flag]) => flag),
    ...values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
  ];
}
