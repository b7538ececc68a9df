/**
 * Stores the keys of a service under names such as `signing.pem` and `retired/ID.json`. What is saved is durable, and readers
 * see the old or the new bytes of a key, never a mixture. test/contracts/key-keeper.ts checks this for every keeper.
 */
export interface KeyKeeper {
  /** Gives the bytes of a key; undefined when there is none. */
  load(name: string): Promise<Uint8Array | undefined>
  /** As `load`, for a key that must stay secret. Throws `unavailable` when others than the service could have read it. */
  loadSecret(name: string): Promise<Uint8Array | undefined>
  /** Stores a key in place of one that has this name. */
  save(name: string, bytes: Uint8Array): Promise<void>
  /** Lists the names of the keys in a folder such as `retired`. */
  list(folder: string): Promise<readonly string[]>
  /** Deletes a key; no error when there is none. */
  remove(name: string): Promise<void>
  /** Says in messages to the operator where a key is. */
  locate(name: string): string
}
