import { Command } from 'commander'
import { settings } from '#lib/compose/settings.ts'
import { addSettingOptions, loadConfig, publicSettings, secretKeys } from '../admin/setting-options.ts'
import type { CommandContext } from './context.ts'

/** `vmhost serve` */
export const createServeCommand = ({ parts }: CommandContext): Command =>
  addSettingOptions(new Command('serve'), publicSettings)
    .addHelpText(
      'after',
      `\nOnly in the environment or in the configuration file:\n${secretKeys
        .map(key => `  VMHOST_${key.toUpperCase()}  ${settings[key].help}\n`)
        .join('')}`,
    )
    .action(async (options: Record<string, string>) => (await import('../serve.ts')).serve(loadConfig(options), parts))
