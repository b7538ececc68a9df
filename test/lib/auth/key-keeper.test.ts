import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createStorage } from 'unstorage'
import { createKeyFiles, generateKeyFile, removeUnfinishedKeys } from '#lib/auth/key-keepers/key-files.ts'
import { openKeyRing } from '#lib/auth/key-ring.ts'
import { loadPepper } from '#lib/auth/pepper.ts'
import { loadPrivateKey } from '#lib/auth/signing-key.ts'
import { createStoredKeys } from '#lib/auth/key-keepers/stored-keys.ts'
import { createStore } from '#lib/storage/create-store.ts'
import { keyKeeperContract } from '../../contracts/key-keeper.ts'
import { newFolder } from '../../support/folder.ts'

keyKeeperContract('files', async () => {
  const folder = newFolder()
  const path = join(folder.path, 'keys')
  return {
    keeper: createKeyFiles(path),
    reopen: async () => createKeyFiles(path),
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  }
})

keyKeeperContract('a store', async () => {
  const disk = createStorage()
  const open = async () => createStoredKeys(await createStore(disk))
  return { keeper: await open(), reopen: open, [Symbol.asyncDispose]: () => disk.dispose() }
})

describe('keys in files', () => {
  test('can be read by their owner alone, and leave nothing unfinished', async () => {
    using folder = newFolder()
    const keeper = createKeyFiles(join(folder.path, 'state', 'keys'))
    await keeper.save('retired/one.json', Buffer.from('1'))
    await keeper.save('signing.pem', Buffer.from('2'))
    const files = readdirSync(folder.path, { recursive: true }).map(String)
    expect(files.toSorted()).toEqual([
      'state',
      'state/keys',
      'state/keys/retired',
      'state/keys/retired/one.json',
      'state/keys/signing.pem',
    ])
    for (const file of files) expect(statSync(join(folder.path, file)).mode & 0o077).toBe(0)
  })

  test('are refused as secrets when others can read them', async () => {
    using folder = newFolder()
    writeFileSync(join(folder.path, 'signing.secret'), 'read by all', { mode: 0o644 })
    const refused = createKeyFiles(folder.path).loadSecret('signing.secret')
    await expect(refused).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining(`Run chmod 600 on it`),
    })
  })

  test('lose what a killed process left half written, and nothing else', async () => {
    using folder = newFolder()
    mkdirSync(join(folder.path, 'retired'))
    for (const name of [`.signing.pem.${randomUUID()}`, 'signing.next.pem', 'signing.pem'])
      writeFileSync(join(folder.path, name), name)
    await removeUnfinishedKeys(folder.path)
    expect(readdirSync(folder.path).toSorted()).toEqual(['retired', 'signing.pem'])
  })

  test('are not overwritten by a key that is generated into a file', async () => {
    using folder = newFolder()
    const file = join(folder.path, 'keys', 'signing.pem')
    await generateKeyFile(file, 2048)
    expect((await loadPrivateKey(createKeyFiles(join(folder.path, 'keys')))).asymmetricKeyType).toBe('rsa')
    await expect(generateKeyFile(file, 2048)).rejects.toMatchObject({ fault: 'conflict' })
  })
})

describe('keys in a store', () => {
  test('are those of a key ring: rotated, and the same for the next process', async () => {
    const disk = createStorage()
    const open = async () => {
      const keeper = createStoredKeys(await createStore(disk))
      const privateKey = await loadPrivateKey(keeper)
      const replace = (_: unknown, putInPlace: () => Promise<void>): Promise<void> => putInPlace()
      const ring = await openKeyRing({ keeper, algorithm: 'RS256', lifetime: 60, privateKey, replace })
      return { ring, pepper: await loadPepper(keeper), keeper }
    }
    const first = await open()
    const old = first.ring.current().id
    const id = await first.ring.rotate()
    const second = await open()
    expect(second.ring.current().id).toBe(id)
    expect(second.ring.find(old)).toBeDefined()
    expect(Buffer.from(second.pepper)).toEqual(Buffer.from(first.pepper))
  })

  test('that are damaged stop the start with their name', async () => {
    const keeper = createStoredKeys(await createStore(createStorage()))
    await keeper.save('api-keys.pepper', Buffer.from('short'))
    await keeper.save('signing.pem', Buffer.from('no key'))
    await expect(loadPepper(keeper)).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining('api-keys.pepper in the store is damaged'),
    })
    await expect(loadPrivateKey(keeper)).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining('signing.pem in the store is not a private RSA key'),
    })
  })
})
