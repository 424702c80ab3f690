/** Events of one object: each name with the type of its payload. */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<(payload: never) => void>>();

  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Calls all listeners. Returns whether there was one. */
  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): boolean {
    const listeners = [...(this.#listeners.get(name) ?? [])];
    for (const listener of listeners) (listener as (payload: Events[Name]) => void)(payload);
    return listeners.length > 0;
  }
}
