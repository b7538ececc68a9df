import { endpoint } from '#lib/http/endpoint.ts'
import { Image, ImageReference } from '#lib/images/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/images/{id}',
  summary: 'Show an image',
  access: { claims: ['LIST_IMAGE'] },
  effect: 'read',
  uses: ['images'],
  params: ImageReference,
  reply: Image,
}).handle(({ params }, { images }) => images.show(params.id))
