import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/key/rotate',
  summary: 'Sign tokens with a new key from now on; existing tokens stay valid until they expire',
  access: { roles: ['SUPER_USER'] },
  effect: 'change',
  uses: ['keys'],
  reply: z.object({ kid: z.string() }).meta({ id: 'RotatedKey' }),
}).handle(async (_, { keys }) => ({ kid: await keys.rotate() }))
