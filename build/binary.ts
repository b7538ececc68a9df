/**
 * Builds the single executable into dist/binary: `npm run binary` for this computer, `npm run binary -- --target linux-arm64` for
 * another platform. `--config`, `--include` and `--exclude` select routes as in `build/bundle.ts`. `--if-stale` builds only when a source is newer.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { needsControl } from '#lib/compose/hosts/host-routes.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { type BuiltExecutable, buildExecutable, executableName } from './executable/build.ts'
import { checksumsFile } from './executable/checksums.ts'
import { findTarget, ownPlatform } from './executable/targets.ts'
import { exposureOptions, readExposure, runBuild } from './exposure.ts'
import { isFresh } from './freshness.ts'
import { readRoutes } from './table.ts'

const folder = 'dist/binary'

const { values } = parseArgs({
  options: {
    ...exposureOptions,
    target: { type: 'string', default: ownPlatform },
    'if-stale': { type: 'boolean', default: false },
  },
})

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const report = ({ name, bytes, nodeBytes, codeBytes, symbols, isSigned }: BuiltExecutable): string => {
  const file = join(folder, name)
  return [
    `Built ${file}, ${megabytes(bytes)}:`,
    `  Node    ${megabytes(nodeBytes)}, ${symbols}`,
    `  code    ${megabytes(codeBytes)}`,
    ...(isSigned === undefined
      ? []
      : [`  signed  ${isSigned ? 'yes, without a certificate' : 'no: no signer is here'}`]),
    'Next:',
    ...(isSigned === false
      ? [
          `  macOS does not run it unsigned. On a Mac: codesign --sign - ${name}`,
          `  elsewhere: rcodesign sign ${name}; then rename it to ${executableName(values.target)}`,
        ]
      : []),
    `  check it where it was copied to, beside ${checksumsFile}: sha256sum --check --ignore-missing ${checksumsFile}`,
    ...(values.target === ownPlatform ? [`  start it: ${file} serve`] : []),
  ].join('\n')
}

const build = async (): Promise<void> => {
  const exposure = readExposure(values)
  const routes = selectExposedRoutes(await readRoutes(), exposure).filter(route => !needsControl(route))
  console.log(report(await buildExecutable(folder, findTarget(values.target), routes, exposure)))
}

if (!values['if-stale'] || !isFresh(join(folder, executableName(values.target)))) await runBuild(build)
