import { type CommandGroup, filter, type Input } from './definition.ts'

const image: Input = { flag: '<image>', to: 'params.id', about: 'name, id or SHA-256 of the image' }
const details: readonly Input[] = [
  { flag: '--description <text>', to: 'body.description', about: 'text for people' },
  { flag: '--firmware <firmware>', to: 'body.firmware', about: 'bios or uefi, for machines of this image' },
]

/** `vmhost images …` */
export const images: CommandGroup = {
  name: 'images',
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'images.list',
      summary: 'List the registered images',
      inputs: [filter],
      columns: [
        ['NAME', 'name'],
        ['KIND', 'kind'],
        ['FORMAT', 'format'],
        ['DISK', 'virtual_size', 'bytes'],
        ['STORED', 'size', 'bytes'],
        ['CREATED', 'created_at', 'time'],
        ['DESCRIPTION', 'description'],
      ],
      empty: 'There are no images.',
    },
    {
      name: 'show',
      operation: 'images.show',
      summary: 'Show an image',
      inputs: [image],
      rows: [
        ['name', 'name'],
        ['id', 'id'],
        ['description', 'description'],
        ['kind', 'kind'],
        ['format', 'format'],
        ['disk', 'virtual_size', 'bytes'],
        ['stored', 'size', 'bytes'],
        ['firmware', 'firmware'],
        ['source', 'source_url'],
        ['SHA-256', 'sha256'],
        ['created', 'created_at', 'time'],
      ],
    },
    {
      name: 'pull',
      operation: 'images.create',
      summary: 'Have the service fetch, verify and register an image',
      inputs: [
        { flag: '<name>', to: 'body.name', about: 'name of the new image' },
        { flag: '<url>', to: 'body.url', about: 'where the service fetches the file' },
        { flag: '--sha256 <digest>', to: 'body.sha256', about: 'the SHA-256 that the file must have' },
        { flag: '--checksums-url <url>', to: 'body.checksums_url', about: 'a SHA256SUMS file that names the file' },
        ...details,
      ],
      asJob: true,
      says: 'Registered {name}.',
    },
    {
      name: 'register',
      operation: 'images.create',
      summary: 'Register the file that was uploaded under a name',
      inputs: [
        { flag: '<name>', to: 'body.name', about: 'name of the upload and of the new image' },
        { flag: '<sha256>', to: 'body.sha256', about: 'the SHA-256 of the file' },
        ...details,
      ],
      fixed: { 'body.upload': true },
      asJob: true,
      says: 'Registered {name}.',
    },
    {
      name: 'upload',
      operation: 'images.upload',
      summary: 'Upload the file of an image, which `vmhost images register` registers then',
      inputs: [
        { flag: '<name>', to: 'params.name', about: 'name of the image to be' },
        { flag: '<file>', to: 'body', kind: 'bytes', about: 'file of this host' },
      ],
    },
    {
      name: 'show-upload',
      operation: 'images.showUpload',
      summary: 'Show how much of an upload is there',
      inputs: [{ flag: '<name>', to: 'params.name', about: 'name of the image to be' }],
    },
    {
      name: 'delete',
      alias: 'rm',
      operation: 'images.delete',
      summary: 'Delete an image that no machine uses',
      inputs: [image],
      says: 'Deleted {image}.',
    },
  ],
}
