import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Show the public keys that verify tokens (RFC 7517)',
  access: 'public',
  effect: 'read',
  uses: ['keys'],
  reply: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }).meta({ id: 'KeySet' }),
}).handle(async (_, { keys }) => ({ keys: [...(await keys.publicKeys())] }))
