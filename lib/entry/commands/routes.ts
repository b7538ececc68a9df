import { Command } from 'commander'
import { addSettingOptions, loadConfig } from '../admin/setting-options.ts'

/** `vmhost routes` */
export const createRoutesCommand = (): Command =>
  addSettingOptions(new Command('routes'), ['routes_include', 'routes_exclude', 'license_path'])
    .option('--json', 'as JSON')
    .action(async (options: Record<string, string> & { json?: true }) =>
      (await import('../show-routes.ts')).showRoutes(loadConfig(options), options.json === true),
    )
