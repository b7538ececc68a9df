import { endpoint } from '#lib/http/endpoint.ts'
import { CreateImage, Image, pullFaults, summarizeCreate } from '#lib/images/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/images',
  summary: 'Pull an image from an address, or register an uploaded one',
  description:
    'Formats: raw, qcow2, vmdk, vhdx, OVA and ISO. Disks are stored as qcow2. With sha256 or checksums_url the file is used only if it has that digest.',
  access: { claims: ['CREATE_IMAGE'] },
  effect: 'change',
  job: {
    type: 'images',
    operation: 'pull',
    record: 'image',
    always: true,
    repeatable: true,
    summarize: summarizeCreate,
  },
  uses: ['images'],
  body: CreateImage,
  audited: ['name', 'sha256'],
  faults: pullFaults,
  reply: Image,
  status: 201,
}).handle(({ caller, body, progress }, { images }) => images.create(caller, body, progress))
