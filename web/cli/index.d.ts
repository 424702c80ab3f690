/** What `lyceum.config.js`, `.mjs`, `.ts` or `.json` says of a project. */
export interface Config {
  /** The display name; the slug follows from it. */
  name?: string;
  description?: string;
  emoji?: string;
  platform?: string;
  /** The zip or folder of the build's output. */
  buildPath?: string;
  integrations?: Integrations;
}

/** What a project uses. Another service may stand beside these with the secrets that it needs. */
export interface Integrations {
  /** Routes of the backend, in `server/api` unless a folder is named. */
  customRoutes?: boolean | (Needs & { directory?: string });
  database?: boolean | (Needs & { directory?: string; strategy?: "push" | "migrate" });
  kv?: boolean | Needs;
  bucket?: boolean | Needs;
  lms?: boolean | Lms;
  timeback?: boolean | Lms;
  [service: string]: boolean | Needs | undefined;
}

export interface Needs {
  /** Names of secrets without which nothing is deployed. */
  secrets?: string[];
}

/** What a project teaches. `{grade}`, `{subject}`, `{appSlug}` and `{appName}` are filled in. */
export interface Lms extends Needs {
  base?: {
    organization?: { id?: string; name?: string; type?: string };
    course?: { title?: string; courseCode?: string };
  };
  courses?: Course[];
}

export interface Course {
  subject: string;
  grade: number | string;
  /** XP in all; needed before the course is set up. */
  totalXp?: number | null;
  masterableUnits?: number | null;
  title?: string;
  courseCode?: string;
}

/** Answers the config that it is given. */
export declare function defineConfig(config: Config): Config;
