import { endpoint } from '#lib/http/endpoint.ts'
import { rangeLimit, Upload, UploadedBytes, UploadReference } from '#lib/images/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/images/{name}/upload',
  summary: 'Upload a range of the file of an image',
  description:
    'The ranges come one after the other; one that begins at 0 begins again. GET tells where the next one begins. POST /v1/images with upload and sha256 makes the image.',
  access: { claims: ['CREATE_IMAGE'] },
  effect: 'change',
  routine: true,
  uses: ['images'],
  params: UploadReference,
  body: UploadedBytes,
  bodyMedia: 'application/octet-stream',
  bodyLimit: rangeLimit,
  reply: Upload,
}).handle((context, { images }) =>
  images.upload(context.caller, context.params.name, context.header('content-range'), context.body),
)
