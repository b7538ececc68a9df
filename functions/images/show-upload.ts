import { endpoint } from '#lib/http/endpoint.ts'
import { Upload, UploadReference } from '#lib/images/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/images/{name}/upload',
  summary: 'Show how much of an upload is there',
  access: { claims: ['CREATE_IMAGE'] },
  effect: 'read',
  uses: ['images'],
  params: UploadReference,
  reply: Upload,
}).handle(({ caller, params }, { images }) => images.showUpload(caller, params.name))
