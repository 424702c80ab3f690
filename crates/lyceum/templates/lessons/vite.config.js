import { lyceum } from "@lyceum/vite";

export default {
  // Starts a sandbox beside the development server. The preview sends the questions to it.
  plugins: [lyceum({ mode: "standalone", export: { autoZip: false } })],
};
