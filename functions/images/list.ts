import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { Image } from '#lib/images/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/images',
  summary: 'List the images',
  access: { claims: ['LIST_IMAGE'] },
  effect: 'read',
  uses: ['images'],
  filter: true,
  reply: z.array(Image),
}).handle(async (_, { images }) => [...(await images.list())])
