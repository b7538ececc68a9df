import type { OptionValues } from 'commander'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { takeConnection } from '../admin/read-connection.ts'
import { addSettingOptions, loadConfig, publicSettings } from '../admin/setting-options.ts'
import type { CommandWork, RegisterCommand, RegisterLocalCommand } from './invocation.ts'

/** What the commands of the program have in common. */
export interface CommandContext {
  readonly parts: ProgramParts
  /** The connection of the environment, which is the default of commands that take one. */
  readonly connection: string | undefined
  readonly register: RegisterCommand
  /** Registers a command that also calls the catalog. */
  readonly registerCatalog: RegisterCommand
  readonly registerLocal: RegisterLocalCommand
}

// If no service runs, the command works in this process, with the rules of these settings.
const serviceSettings = publicSettings.filter(key => /^(log|password_|lockout_|token_|audit_)/.test(key))

const createRegister =
  ({ startWorker }: ProgramParts, needs?: 'catalog'): RegisterCommand =>
  <Options extends OptionValues>(command: Parameters<RegisterCommand>[0], work: CommandWork<Options>) =>
    addSettingOptions(command, ['state'], serviceSettings).action(async () => {
      const { runCommand } = await import('../admin/admin-client.ts')
      const options = command.opts<Options>()
      const config = loadConfig(options)
      await runCommand(config, startWorker, {
        needs,
        work: (callApi, isRunning) => work(callApi, { args: command.args, options, config, isRunning }),
      })
    })

const registerLocal: RegisterLocalCommand = (command, work) =>
  addSettingOptions(command, ['state', 'log']).action(async () => {
    await (await import('#lib/platform/log.ts')).openLog('warning')
    await work(loadConfig(command.opts()), command.args)
  })

/** Creates the context of a program. Takes the secrets of the command line out of the environment. */
export const createContext = (parts: ProgramParts): CommandContext => ({
  parts,
  connection: takeConnection(),
  register: createRegister(parts),
  registerCatalog: createRegister(parts, 'catalog'),
  registerLocal,
})
