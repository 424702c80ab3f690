import { lyceum } from "@lyceum/vite";
import { defineConfig } from "vite";

export default defineConfig({
  // Starts a sandbox beside the development server: a Lyceum server with a demo user.
  plugins: [lyceum()],
});
