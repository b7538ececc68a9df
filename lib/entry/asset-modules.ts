import { createRequire, isBuiltin, registerHooks } from 'node:module'
import { getAsset } from 'node:sea'
import { pathToFileURL } from 'node:url'

/** The folder that the modules seem to be in: no file can be there, since the executable is a file itself. */
const folder = `${pathToFileURL(process.execPath).href}/`

/**
 * Loads a module that the single executable contains, with the modules that it imports: others that the executable contains, and
 * Node's own. The code is in the same pieces as in the bundle, so a command loads only what it needs. As one module with compiled code,
 * which is Node's own way, it would all be evaluated at each start.
 * @param name the asset with the code, which must not await at its top level
 * @throws {Error} if one of the modules imports what the executable does not contain: files beside it never become part of the program
 */
export const requireAsset = (name: string): void => {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (isBuiltin(specifier)) return nextResolve(specifier, context)
      const { href } = new URL(specifier, context.parentURL)
      if (!href.startsWith(folder)) throw new Error(`${specifier} is not part of this program`)
      return { url: href, format: 'module', shortCircuit: true }
    },
    load: (url, context, nextLoad) =>
      url.startsWith(folder)
        ? { format: 'module', source: getAsset(url.slice(folder.length), 'utf8'), shortCircuit: true }
        : nextLoad(url, context),
  })
  createRequire(process.execPath)(`${folder}${name}`)
}
