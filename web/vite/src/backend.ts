import type { Project } from "./project.js";
import { startProgram } from "./sandbox.js";

/** The ports of backends under development. */
export const BACKEND_PORTS = [8788, 8807] as const;

/** A backend that `lyceum dev` serves. */
export interface Backend {
  /** Its address, without `/api`. */
  url: string;
  /** Resolves when the process ends without {@link stop}, with the reason. */
  died: Promise<string>;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** Serves the project's routes at a port, beside a sandbox. If that does not start, throws an error with its last lines. */
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
  const { announcement, died, stop } = await startProgram<{ url: string }>("the backend", root, words, {}, says);
  return { url: announcement.url, died, stop };
}

/** Why `lyceum dev` does not serve the saved files. */
export interface BackendFailure {
  message: string;
  stack: string;
  place: { file: string; line: number; column: number; frame: string } | null;
  hint: string | null;
}

/** An event of `lyceum dev`: which attempt it is to serve the saved files, and why it failed. */
interface BuildState {
  build: number;
  failure: BackendFailure | null;
}

/** Follows the builds of a backend until the signal: `shows` takes the failure of the latest, or null. */
export async function followBuilds(
  url: string,
  signal: AbortSignal,
  shows: (failure: BackendFailure | null) => void,
): Promise<void> {
  try {
    const response = await fetch(`${url}/api/__lyceum/builds`, { signal });
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const events = (rest + decoder.decode(read.value, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) shows((JSON.parse(event.replace(/^data: /, "")) as BuildState).failure);
    }
  } catch {
    // The backend ended, which is noticed by its process.
  }
}
