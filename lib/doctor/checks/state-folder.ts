import { globSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exists } from '#lib/platform/files.ts'
import { createOk, createProblem, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'
import { mayOpen } from '../access.ts'

/** What only the user of the service may read, below the state folder. */
const privatePaths = ['store.db*', 'keys', 'keys/*', 'tls/key.pem', 'ssh', 'ssh/*']

/** Quotes a path for a shell if it needs that. */
const quote = (path: string): string => (/^[\w/.-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

const findWrong = async (paths: readonly string[], uid: number) => {
  const open: string[] = []
  const foreign: string[] = []
  for (const path of paths) {
    const found = await lstat(path).catch(() => undefined)
    if (!found) continue
    if ((found.mode & 0o077) !== 0) open.push(path)
    if (found.uid !== uid) foreign.push(path)
  }
  return { open, foreign }
}

const checkMissing = async ({ settings: { state }, account }: Surroundings): Promise<Finding> => {
  let parent = dirname(state)
  while (!(await exists(parent)) && parent !== dirname(parent)) parent = dirname(parent)
  const found = await lstat(parent)
  return mayOpen(found, account, 3)
    ? createOk(`There is no ${state} yet; the first start makes it.`)
    : createProblem(
        `There is no ${state}, and ${account.user} may not make it in ${parent}.`,
        `install --directory --mode=700 --owner=${account.user} ${quote(state)}`,
      )
}

/** Checks that the state folder is its user's, and that nobody else can read the secrets in it. */
export const checkStateFolder = async (surroundings: Surroundings): Promise<Finding> => {
  const { settings, account } = surroundings
  const { state } = settings
  if (!(await exists(state))) return checkMissing(surroundings)
  const paths = [state, ...globSync(privatePaths, { cwd: state }).map(name => join(state, name))]
  const { open, foreign } = await findWrong(paths, account.uid)
  if (open.length > 0)
    return createProblem(
      `Others than ${account.user} may open ${open[0]}${open.length > 1 ? ` and ${open.length - 1} more` : ''}.`,
      `chmod go= ${open.map(quote).join(' ')}`,
    )
  if (foreign.length > 0)
    return createProblem(
      `${foreign[0]}${foreign.length > 1 ? ` and ${foreign.length - 1} more do` : ' does'} not belong to ${account.user}, who runs the service. A command that root has run may have made ${foreign.length > 1 ? 'them' : 'it'}.`,
      `chown --recursive ${account.user} ${quote(state)}`,
    )
  return createOk(`${state} belongs to ${account.user} alone.`)
}
