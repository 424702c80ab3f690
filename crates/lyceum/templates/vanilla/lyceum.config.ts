import { defineConfig } from "@lyceum/cli";

// What Lyceum knows about this project. Editors explain each key.
export default defineConfig({
  name: "{{name}}",
  // The folder that `lyceum deploy` publishes.
  buildPath: "dist",
  integrations: {
    // What the app teaches. The sandbox creates these courses, so that the demo user can earn XP.
    lms: {
      courses: [{ subject: "Math", grade: 3, totalXp: 500 }],
    },
  },
});
