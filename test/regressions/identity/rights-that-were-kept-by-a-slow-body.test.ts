import { expect, test } from 'vitest'
import { createApp } from '#lib/http/app.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { routes } from '#functions/routes.gen.ts'
import { askOf, newIdentity, rootPassword } from '../../support/identity.ts'

test.for([
  ['a claim is taken', 'DELETE', '/auth/users/ann/claims/CREATE_USER', 403],
  ['the user is removed', 'DELETE', '/auth/users/ann', 401],
] as const)('a request whose body is sent slowly does nothing after %s', async ([, method, path, status]) => {
  const identity = await newIdentity()
  const ask = askOf(identity)
  const root = (await ask('POST', '/auth/token', { body: { email: 'root', password: rootPassword } })).body.token
  const ann = { username: 'ann', name: 'Ann', email: 'ann@example.test', password: 'Ann-Signs-In-1' }
  await ask('POST', '/auth/users', { token: root, body: { ...ann, claims: ['CREATE_USER', 'READ_ONLY'] } })
  const token = (await ask('POST', '/auth/token', { body: { email: 'ann', password: ann.password } })).body.token

  const admitted = Promise.withResolvers<void>()
  const app = createApp({
    routes: routes.filter(({ id }) => id === 'users/create'),
    services: identity.services,
    async authenticate(credential) {
      const caller = await identity.authenticate(credential)
      admitted.resolve()
      return caller
    },
    parseFilter,
    onOutcome: () => {},
    checkReplies: true,
  })
  const body = new TransformStream<Uint8Array, Uint8Array>()
  const answer = app.fetch(
    new Request('https://host.example.test/api/v1/auth/users', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: body.readable,
      duplex: 'half',
    } as RequestInit),
  )
  await admitted.promise
  expect((await ask(method, path, { token: root })).status).toBe(202)
  const writer = body.writable.getWriter()
  await writer.write(new TextEncoder().encode('{"username":"accomplice","name":"A","email":"a@example.test"}'))
  await writer.close()

  expect((await answer).status).toBe(status)
  expect((await ask('GET', '/auth/users/accomplice', { token: root })).status).toBe(404)
})
