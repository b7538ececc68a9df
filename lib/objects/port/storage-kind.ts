import type { Storage } from './connection.ts'
import type { ProviderType } from './provider-kinds.ts'
import type { Provider } from './provider.ts'

/** How the storages of one kind are opened, and how their objects are told apart. */
export interface StorageKind {
  /** Throws `forbidden` for a storage that the catalog may not use, and the errors of the provider. */
  open(storage: Storage): Promise<Provider>
  /** Gives the path that identifies a storage, from the one that its connection names. Without this they are the same. */
  resolveRoot?(root: string): Promise<string>
  /** Gives where the object at a path really is. Without this a path leads to one object. */
  resolveObject?(path: string): Promise<string>
  /** Gives the same path for all paths that a write to one object can take. Without this a path leads to one object. */
  resolveTarget?(path: string): Promise<string>
}

/** The kinds of storage that a program can open. */
export type StorageKinds = Readonly<Partial<Record<ProviderType, StorageKind>>>
