import { confirmDeletion, DeletionReply } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { ImageReference } from '#lib/images/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/images/{id}',
  summary: 'Delete an image that no machine uses',
  access: { claims: ['DELETE_IMAGE'] },
  effect: 'change',
  uses: ['images'],
  params: ImageReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params }, { images }) => {
  const { name } = await images.remove(params.id)
  return confirmDeletion(`The image ${name} was deleted.`)
})
