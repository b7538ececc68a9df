import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { KeyKeeper } from '#lib/auth/key-keeper.ts'

export interface KeyKeeperBench extends AsyncDisposable {
  readonly keeper: KeyKeeper
  /** Opens what was saved once more, as the next process does. */
  reopen(): Promise<KeyKeeper>
}

const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()

/** Every keeper of keys passes this, wherever it keeps them. */
export const keyKeeperContract = (name: string, open: () => Promise<KeyKeeperBench>): void => {
  describe(`the contract of key keepers: ${name}`, () => {
    let bench: KeyKeeperBench
    let keeper: KeyKeeper
    beforeEach(async () => {
      bench = await open()
      keeper = bench.keeper
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    test('has nothing at first, and says so', async () => {
      expect(await keeper.load('signing.pem')).toBeUndefined()
      expect(await keeper.loadSecret('signing.pem')).toBeUndefined()
      expect(await keeper.list('retired')).toEqual([])
      await keeper.remove('signing.pem')
    })

    test('gives the bytes that were saved last, also to the next process', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
      await keeper.save('api-keys.pepper', Buffer.from('before'))
      await keeper.save('api-keys.pepper', bytes)
      for (const one of [keeper, await bench.reopen()]) {
        expect(Uint8Array.from((await one.load('api-keys.pepper'))!)).toEqual(bytes)
        expect(Uint8Array.from((await one.loadSecret('api-keys.pepper'))!)).toEqual(bytes)
      }
    })

    test('lists the keys of a folder alone, and removes one', async () => {
      await keeper.save('signing.pem', Buffer.from('current'))
      await keeper.save('retired/one.json', Buffer.from('1'))
      await keeper.save('retired/two.json', Buffer.from('2'))
      expect((await keeper.list('retired')).toSorted()).toEqual(['retired/one.json', 'retired/two.json'])
      await keeper.remove('retired/one.json')
      const next = await bench.reopen()
      expect(await next.list('retired')).toEqual(['retired/two.json'])
      expect(await next.load('retired/one.json')).toBeUndefined()
      expect(textOf(await next.load('retired/two.json'))).toBe('2')
      expect(textOf(await next.load('signing.pem'))).toBe('current')
    })

    test('says where a key is', () => {
      expect(keeper.locate('signing.pem')).toContain('signing.pem')
    })
  })
}
