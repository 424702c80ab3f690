import type { Project } from "./project.js";
import { startProgram } from "./sandbox.js";

/** The ports of backends under development. */
export const BACKEND_PORTS = [8788, 8807] as const;

/** A backend that `lyceum dev` serves. */
export interface Backend {
  /** Its address, without `/api`. */
  url: string;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** Serves the project's routes at a port, beside a sandbox. Throws what was said when that does not start. */
export async function startBackend(
  root: string,
  project: Project,
  port: number,
  sandbox: string | undefined,
  says: (line: string) => void,
): Promise<Backend> {
  const config = project.config ? ["--config-path", project.config] : [];
  const beside = sandbox ? ["--sandbox", sandbox.replace(/\/api$/, "")] : ["--no-sandbox"];
  const words = ["dev", "--port", String(port), ...config, ...beside];
  const { told, stop } = await startProgram<{ url: string }>("the backend", root, words, {}, says);
  return { url: told.url, stop };
}
