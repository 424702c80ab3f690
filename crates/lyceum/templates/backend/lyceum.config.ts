import { defineConfig } from "@lyceum/cli";

// What Lyceum knows about this project. Editors explain each key.
export default defineConfig({
  name: "{{name}}",
  // The folder that `lyceum deploy` publishes.
  buildPath: "dist",
  integrations: {
    // What the app teaches. A deploy creates these courses; students who are enrolled in them earn XP.
    lms: {
      courses: [{ subject: "Language", grade: 4, totalXp: 500 }],
    },
    // The routes in `server/api`, and the secrets without which a deploy is refused.
    customRoutes: { secrets: ["CODE_KEY"] },
    // A SQLite database with the tables in `db/schema.sql`.
    database: true,
    // A key-value store and a bucket for files.
    kv: true,
    bucket: true,
  },
});
