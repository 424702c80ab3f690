/** Events of one object, each name with the type of what it tells. */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<(told: never) => void>>();

  /** Listens; the answer stops it. */
  on<Name extends keyof Events>(name: Name, listener: (told: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Tells all listeners; whether there was one. */
  emit<Name extends keyof Events>(name: Name, told: Events[Name]): boolean {
    const listeners = [...(this.#listeners.get(name) ?? [])];
    for (const listener of listeners) (listener as (told: Events[Name]) => void)(told);
    return listeners.length > 0;
  }
}
