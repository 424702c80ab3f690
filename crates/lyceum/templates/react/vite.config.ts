import { lyceum } from "@lyceum/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  // `lyceum` starts a sandbox beside the development server: a Lyceum server with a demo user.
  plugins: [react(), lyceum()],
});
