import { hash } from 'node:crypto'
import type { Metafile } from 'esbuild'
import { packageOf, packagesOf, readPackage } from '../licenses.ts'

interface Component {
  readonly type: 'library' | 'platform'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly cpe?: string
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[]
  readonly components?: readonly Component[]
}

interface Dependency {
  readonly ref: string
  readonly dependsOn: readonly string[]
}

const toPurl = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** A single SPDX identifier, or an expression of several. */
const toLicenses = (license: string): NonNullable<Component['licenses']> =>
  /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]

const toComponent = (folder: string): Component => {
  const { name, version, license } = readPackage(folder)
  const purl = toPurl(name, version)
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license !== undefined && { licenses: toLicenses(license) }),
  }
}

/** Numbers that Node lists beside the versions of its libraries. */
const notLibraries = new Set(['node', 'modules', 'napi', 'unicode', 'cldr', 'tz'])

/** Node with the libraries inside it. */
const describeNode = (version: string, libraries: Readonly<Record<string, string | undefined>>): Component => {
  const ref = `pkg:generic/node@${version}`
  return {
    type: 'platform',
    'bom-ref': ref,
    name: 'node',
    version,
    purl: ref,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
    components: Object.entries(libraries).flatMap(([name, inside = '']) =>
      notLibraries.has(name) ? [] : [{ type: 'library' as const, 'bom-ref': `${ref}#${name}`, name, version: inside }],
    ),
  }
}

/** Which packages the files of each package import. */
const findDependencies = (metafile: Metafile): readonly Dependency[] =>
  packagesOf(metafile).map(folder => {
    const imported = Object.entries(metafile.inputs)
      .filter(([file]) => packageOf(file) === folder)
      .flatMap(([, { imports }]) => imports.flatMap(({ path }) => packageOf(path) ?? []))
      .filter(other => other !== folder)
    return {
      ref: toComponent(folder)['bom-ref'],
      dependsOn: [...new Set(imported)].sort().map(other => toComponent(other)['bom-ref']),
    }
  })

/** The same for the same content, in the form of a UUID of version 8. */
const toSerialNumber = (content: string): string => {
  const digits = hash('sha256', content)
  const variant = `8${digits.slice(17, 20)}`
  return `urn:uuid:${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}-${digits.slice(20, 32)}`
}

interface Subject {
  readonly version: string
  readonly metafile: Metafile
  readonly nodeVersion: string
  /** Versions of what is inside that Node, as `process.versions`. */
  readonly nodeLibraries: Readonly<Record<string, string | undefined>>
}

/** The list of all that is in the executable, in the format CycloneDX 1.6. The same content gives the same text. */
export const writeBillOfMaterials = ({ version, metafile, nodeVersion, nodeLibraries }: Subject): string => {
  const node = describeNode(nodeVersion, nodeLibraries)
  const packages = packagesOf(metafile).map(toComponent)
  const ref = toPurl('vmhost', version)
  const content = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': ref,
        name: 'vmhost',
        version,
        purl: ref,
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components: [node, ...packages],
    dependencies: [
      { ref, dependsOn: [node, ...packages].map(component => component['bom-ref']) },
      { ref: node['bom-ref'], dependsOn: [] },
      ...findDependencies(metafile),
    ],
  }
  const head = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: toSerialNumber(JSON.stringify(content)),
    version: 1,
  }
  return `${JSON.stringify({ ...head, ...content }, undefined, 2)}\n`
}
