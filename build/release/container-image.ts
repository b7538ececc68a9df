import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { hash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { compress, packFolder } from './pack-folder.ts'

/** The libraries of this host that a program loads, as the system's loader lists them. */
const listLibraries = (program: string): readonly string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(match => match[1]!)

/** Fills a folder with all files of the container: the executable, its libraries, a user, and the folders that it needs. */
const fillRoot = (executable: string, root: string): void => {
  const place = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    return join(root, path)
  }
  copyFileSync(executable, place('usr/bin/vmhost'))
  for (const library of listLibraries(executable)) copyFileSync(library, place(library))
  writeFileSync(place('etc/passwd'), 'root:x:0:0::/:/\nvmhost:x:990:990::/var/lib/vmhost:/\n')
  writeFileSync(place('etc/group'), 'root:x:0:\nvmhost:x:990:\n')
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 })
  mkdirSync(join(root, 'var/lib'), { recursive: true })
}

interface Options {
  readonly version: string
  readonly architecture: 'amd64' | 'arm64'
  readonly executable: string
  /** An empty folder for the work. */
  readonly work: string
  /** The time of all files, in seconds since 1970. */
  readonly seconds: number
}

/** Makes a container image without anything but vmhost: a tar of an OCI image layout (image-spec 1.1). It has the embedded driver. */
export const createContainerImage = ({ version, architecture, executable, work, seconds }: Options): Buffer => {
  const [root, layout] = [join(work, 'root'), join(work, 'layout')]
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  fillRoot(executable, root)
  const writeBlob = (mediaType: string, bytes: Uint8Array) => {
    const digest = hash('sha256', bytes)
    writeFileSync(join(layout, 'blobs/sha256', digest), bytes)
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
  }
  const writeJson = (mediaType: string, value: object) => writeBlob(mediaType, Buffer.from(JSON.stringify(value)))
  const tar = packFolder(root, seconds)
  const layer = writeBlob('application/vnd.oci.image.layer.v1.tar+gzip', compress(tar))
  const created = new Date(seconds * 1000).toISOString()
  const config = writeJson('application/vnd.oci.image.config.v1+json', {
    created,
    architecture,
    os: 'linux',
    config: {
      Entrypoint: ['/usr/bin/vmhost'],
      Cmd: ['serve'],
      Env: ['PATH=/usr/bin', 'VMHOST_STATE=/var/lib/vmhost', 'VMHOST_LISTEN=https://0.0.0.0:8443'],
      ExposedPorts: { '8443/tcp': {} },
      Volumes: { '/var/lib/vmhost': {} },
      WorkingDir: '/',
      StopSignal: 'SIGTERM',
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${hash('sha256', tar)}`] },
    history: [{ created, created_by: 'npm run release' }],
  })
  const manifest = writeJson('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: [layer],
  })
  const annotations = { 'org.opencontainers.image.ref.name': version }
  writeFileSync(
    join(layout, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [{ ...manifest, platform: { os: 'linux', architecture }, annotations }],
    }),
  )
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return packFolder(layout, seconds)
}
