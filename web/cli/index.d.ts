// Generated from the types that read the config file.

/** The config of a project: `lyceum.config.json`, or the default export of `lyceum.config.js`, `.mjs` or `.ts`. */
export interface Config {
  /** In a JSON file, the path of the JSON Schema with which editors check the file. Example: `"./node_modules/@lyceum/cli/config.schema.json"`. */
  $schema?: string | null;
  /** The display name. The slug, which names the project in addresses, is made from it at the first deploy. Example: `"Rivers"`. */
  name?: string | null;
  /** A sentence about the project. Example: `"Practice fractions on a river"`. */
  description?: string | null;
  /** The emoji that represents the project in lists. Example: `"🌊"`. */
  emoji?: string | null;
  /** The platform that the project runs on. Example: `"web"`. */
  platform?: string | null;
  /** The folder or zip of the build that a deploy publishes. Example: `"dist"`. */
  buildPath?: string | null;
  /** The services that the project uses: routes, database, stores and learning. */
  integrations?: Integrations | null;
}

/** The services that a project uses. Any other name is a service outside Lyceum, which lists only the secrets that it needs. */
export interface Integrations {
  /** The routes of the backend. They are served if their folder exists, unless this is false. Default: `true`. */
  customRoutes?: boolean | CustomRoutes | null;
  /** A SQLite database for the backend, as `c.env.DB`. Default: `false`. */
  database?: boolean | Database | null;
  /** A key-value store for the backend, as `c.env.KV`. Default: `false`. */
  kv?: boolean | NeededSecrets | null;
  /** A bucket for the backend's files, as `c.env.BUCKET`. Default: `false`. */
  bucket?: boolean | NeededSecrets | null;
  /** The courses that the project teaches. Default: `false`. */
  lms?: boolean | Lms | null;
  /** Another name for `lms`. Default: `false`. */
  timeback?: boolean | Lms | null;
  [service: string]: CustomRoutes | Database | Lms | NeededSecrets | boolean | null | undefined;
}

/** Options of the backend's routes. */
export interface CustomRoutes {
  /** The folder of the routes. Default: `"server/api"`. Example: `"backend/routes"`. */
  directory?: string | null;
  /** Names of secrets that the routes need. A deploy without one of them is refused. Example: `["MAP_KEY"]`. */
  secrets?: string[];
}

/** Options of the database. */
export interface Database {
  /** The folder of the schema and the migrations. By default, it is searched in the usual places, first `db`. Example: `"db"`. */
  directory?: string | null;
  /** How a deploy changes the schema. By default `migrate` if the folder has migrations, otherwise `push`. Example: `"push"`. */
  strategy?: "push" | "migrate" | null;
  /** Names of secrets that the database needs. A deploy without one of them is refused. Example: `["DB_KEY"]`. */
  secrets?: string[];
}

/** An integration without options of its own. */
export interface NeededSecrets {
  /** Names of secrets that the integration needs. A deploy without one of them is refused. Example: `["API_KEY"]`. */
  secrets?: string[];
}

/** The courses that a project teaches. */
export interface Lms {
  /** The properties that all courses have. */
  base?: CourseBase | null;
  /** The courses. `lyceum lms setup` and the deploy create them. */
  courses?: Course[];
  /** Names of secrets that learning needs. A deploy without one of them is refused. Example: `["LMS_KEY"]`. */
  secrets?: string[];
}

/** The properties that all courses of a project have. */
export interface CourseBase {
  /** The organization that the courses belong to. */
  organization?: Organization | null;
  /** Values for courses that do not have their own. */
  course?: CourseDefaults | null;
}

/** An organization. */
export interface Organization {
  /** Its name. Example: `"River School"`. */
  name?: string | null;
  /** Its type, such as `school`, `district` or `department`. Example: `"school"`. */
  type?: string | null;
  /** Its sourcedId in the roster. Example: `"river-school"`. */
  id?: string | null;
}

/** Values for courses that do not have their own. They may contain `{grade}`, `{subject}`, `{appSlug}` and `{appName}`. */
export interface CourseDefaults {
  /** The title. Example: `"{appName}: {subject} {grade}"`. */
  title?: string | null;
  /** The code. Example: `"{appSlug}-{grade}"`. */
  courseCode?: string | null;
}

/** A course. Title and code may contain `{grade}`, `{subject}`, `{appSlug}` and `{appName}`. */
export interface Course {
  /** The subject. Example: `"Math"`. */
  subject: string;
  /** The grade: a number, `K`, or another code of OneRoster. Example: `3`. */
  grade: number | string;
  /** All XP that a student can earn in the course. It is needed before the course is set up. Example: `1000`. */
  totalXp?: number | null;
  /** The number of units that a student can master. Example: `12`. */
  masterableUnits?: number | null;
  /** The title. Example: `"Fractions {grade}"`. */
  title?: string | null;
  /** The code. Example: `"FR-{grade}"`. */
  courseCode?: string | null;
}

/** Returns the given config. Its type lets editors complete the keys. */
export declare function defineConfig(config: Config): Config;
