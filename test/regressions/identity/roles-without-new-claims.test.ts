import { expect, test } from 'vitest'
import { Role } from '#lib/auth/directory-schemas.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { newFolder } from '../../support/folder.ts'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'

/** The names of the claims of a role, as a service that opens the store shows them; then these are taken from it. */
const openAndTake = async (folder: string, name: string, ...taken: readonly string[]): Promise<readonly string[]> => {
  await using store = await openStore({ folder })
  const ask = askOf(await newIdentity({ store }))
  const { body } = await ask('POST', '/auth/token', { body: { email: 'root', password: rootPassword } })
  const { body: role } = await ask('GET', `/auth/roles/${name}`, { token: body.token })
  for (const claim of taken)
    expect((await ask('DELETE', `/auth/roles/${name}/claims/${claim}`, { token: body.token })).status).toBe(202)
  return role.claims.map(({ id }: { readonly id: string }) => id)
}

/** Leaves a store as a version without hosts would. */
const forgetHosts = async (folder: string): Promise<void> => {
  await using store = await openStore({ folder })
  const roles = store.collection('roles', Role)
  const stored = await roles.list()
  await store.commit(
    stored.map(role => roles.put({ ...role, claims: role.claims.filter(claim => !claim.endsWith('_HOST')) })),
  )
}

test('the roles of an older version get the claims that are new, once, and none that was taken from them', async () => {
  using folder = newFolder()
  await openAndTake(folder.path, 'ADMIN', 'DELETE_VM')
  await forgetHosts(folder.path)
  const updated = await openAndTake(folder.path, 'ADMIN', 'UPDATE_HOST')
  expect(updated).toContain('LIST_HOST')
  expect(updated).not.toContain('DELETE_VM')
  expect(await openAndTake(folder.path, 'USER')).not.toContain('LIST_HOST')
  const later = await openAndTake(folder.path, 'ADMIN')
  expect(later).toContain('LIST_HOST')
  expect(later).not.toContain('UPDATE_HOST')
})
