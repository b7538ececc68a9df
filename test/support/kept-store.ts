import { generateKeyPairSync } from 'node:crypto'
import { cpSync, readdirSync } from 'node:fs'
import * as z from 'zod'
import { type OpenedStore, openStore } from '#lib/storage/open-store.ts'
import type { Collection, Log } from '#lib/storage/store.ts'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'

const Item = z.object({ id: z.string(), value: z.string() })
const Entry = z.object({ text: z.string() })

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
export const storeSecrets: SealSecrets = { password: 'a password for the store', privateKey, cost: 16 }

/** A plain store, and an encrypted one. */
export const bothKinds = [
  ['plain', undefined],
  ['encrypted', storeSecrets],
] as const

export interface KeptStore {
  readonly store: OpenedStore
  readonly items: Collection<z.infer<typeof Item>>
  readonly log: Log<z.infer<typeof Entry>>
}

/** The store in a folder, with documents and a log. */
export const openKept = async (folder: string, seal: SealSecrets | undefined): Promise<KeptStore> => {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(await openStore({ folder, seal: seal && (async () => seal) }))
  const opened = { store, items: store.collection('items', Item), log: store.log('things', Entry) }
  stack.move()
  return opened
}

/** Commits so many documents, each with an entry. */
export const fillKept = async ({ store, items, log }: KeptStore, count: number, from = 0): Promise<void> => {
  for (let at = from; at < from + count; at += 1)
    await store.commit([
      items.put({ id: `i${at}`, value: `value ${at} ${'v'.repeat(300)}` }),
      log.append(() => ({ text: `entry ${at} ${'e'.repeat(300)}` })),
    ])
}

/** All that a store in a folder holds, as its users see it. */
export const readKept = async (folder: string, seal: SealSecrets | undefined): Promise<unknown> => {
  const { store, items, log } = await openKept(folder, seal)
  try {
    return [await items.list(), log.read(0, 100_000)]
  } finally {
    await store[Symbol.asyncDispose]()
  }
}

/** Copies a folder as a kill would leave it. The memory that processes share is not on disk, and the lock is not held. */
export const copyState = (from: string, to: string): void => {
  for (const name of readdirSync(from))
    if (!/-shm$|lock/.test(name)) cpSync(`${from}/${name}`, `${to}/${name}`, { recursive: true })
}
