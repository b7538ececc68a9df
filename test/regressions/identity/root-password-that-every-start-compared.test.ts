import { createStorage } from 'unstorage'
import { beforeEach, describe, expect, test } from 'vitest'
import type { RootPasswordUse } from '#lib/auth/root-confirmation.ts'
import { createStore } from '#lib/storage/create-store.ts'
import { askOf, newIdentity, newPasswords, rootPassword } from '../../support/identity.ts'

const next = 'Another-Horse-7-Battery'

describe('the configured password of root', () => {
  let disk: ReturnType<typeof createStorage>
  beforeEach(() => {
    disk = createStorage()
  })

  /** Starts the service once more over the same data; gives how many passwords the start has compared. */
  const start = async (
    password: string | undefined,
    { pepper = 1, use }: { readonly pepper?: number; readonly use?: RootPasswordUse } = {},
  ) => {
    const passwords = newPasswords()
    const identity = await newIdentity({
      store: await createStore(disk),
      passwords,
      pepper: new Uint8Array(32).fill(pepper),
      configured: { password, ...(use && { use }) },
    })
    const compared = passwords.compared()
    const ask = askOf(identity)
    const signIn = async (text: string): Promise<number> =>
      (await ask('POST', '/auth/token', { body: { username: 'root', password: text } })).status
    return { compared, ask, signIn }
  }

  test('is compared by its hash only when something has changed', async () => {
    await start(rootPassword)
    const again = await start(rootPassword)
    expect(again.compared).toBe(0)
    expect(await again.signIn(rootPassword)).toBe(200)
  })

  test('becomes the password of root when the setting has changed', async () => {
    await start(rootPassword)
    const changed = await start(next)
    expect(changed.compared).toBe(1)
    expect(await changed.signIn(next)).toBe(200)
    expect(await changed.signIn(rootPassword)).toBe(401)
    const back = await start(rootPassword)
    expect(await back.signIn(rootPassword)).toBe(200)
    expect(await back.signIn(next)).toBe(401)
  })

  test('wins at the next start over a password that root has set', async () => {
    const first = await start(rootPassword)
    const { body } = await first.ask('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })
    const change = { password: rootPassword, new_password: next }
    expect((await first.ask('PUT', '/auth/password', { token: body.token, body: change })).status).toBeLessThan(300)
    expect(await first.signIn(next)).toBe(200)
    const again = await start(rootPassword)
    expect(again.compared).toBe(1)
    expect(await again.signIn(rootPassword)).toBe(200)
    expect(await again.signIn(next)).toBe(401)
    expect((await start(rootPassword)).compared).toBe(0)
  })

  test('is compared again with another pepper, and after a start without the setting it is still remembered', async () => {
    await start(rootPassword)
    expect((await start(rootPassword, { pepper: 2 })).compared).toBe(1)
    expect((await start(undefined, { pepper: 2 })).compared).toBe(0)
    expect((await start(rootPassword, { pepper: 2 })).compared).toBe(0)
  })

  test('applies once where starts are no deed of the operator, and again when it has another value', async () => {
    const use = 'once'
    const first = await start(rootPassword, { use })
    const { body } = await first.ask('POST', '/auth/token', { body: { username: 'root', password: rootPassword } })
    const change = { password: rootPassword, new_password: next }
    expect((await first.ask('PUT', '/auth/password', { token: body.token, body: change })).status).toBeLessThan(300)
    const again = await start(rootPassword, { use })
    expect(again.compared).toBe(0)
    expect([await again.signIn(next), await again.signIn(rootPassword)]).toEqual([200, 401])
    const third = 'A-Third-Horse-8-Battery'
    const other = await start(third, { use })
    expect([await other.signIn(third), await other.signIn(next)]).toEqual([200, 401])
    expect((await start(third, { use })).compared).toBe(0)
  })

  test('leaves no trace in the store but digests', async () => {
    await start(rootPassword)
    const values = await Promise.all((await disk.getKeys()).map(key => disk.getItem(key)))
    expect(JSON.stringify(values)).not.toContain(rootPassword)
  })
})
