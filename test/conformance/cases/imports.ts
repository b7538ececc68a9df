import type { Case } from '../case.ts'
import { answers, audited, shows } from './effects.ts'

/** Imports what is in the bucket, and deletes it. */
export const importCases = (below: string, operations: string): readonly Case[] => {
  const place = { catalog_id: 'web', version: '2', architecture: 'x86_64', connection: '{connection}' }
  const bundle = {
    catalog_id: 'mac',
    version: '1',
    architecture: 'arm64',
    connection: '{connection}',
    machine_remote_path: 'bundles/mac.macvm',
    size: 10,
  }
  return [
    {
      name: 'import a pack with its description',
      request: ['PUT', `${below}/import`, place],
      status: 200,
      reply: {
        manifest: { catalog_id: 'web', version: '2', description: 'As the provider describes it', pack_size: 18 },
      },
      effects: [
        shows(`${below}/web/2/x86_64`, [{ description: 'As the provider describes it' }]),
        audited(`${operations}import`, { details: { catalog_id: 'web', version: '2', architecture: 'x86_64' } }),
      ],
    },
    { name: 'import a pack that the catalog has', request: ['PUT', `${below}/import`, place], status: 409 },
    {
      name: 'import a pack that there is not',
      request: ['PUT', `${below}/import`, { ...place, version: '9' }],
      status: 404,
      effects: [answers(404, ['GET', `${below}/web/9`])],
    },
    {
      name: 'import a machine that nobody has described',
      request: ['PUT', `${below}/import-vm`, bundle],
      status: 200,
      reply: { manifest: { catalog_id: 'mac', architecture: 'arm64', type: 'macvm' } },
      effects: [
        shows(`${below}/mac/1/arm64`, [
          { pack_path: 'mac.macvm', virtual_machine_contents: [{ name: 'config.pvs', size: 6 }] },
        ]),
        audited(`${operations}import-vm`),
      ],
    },
    {
      name: 'import a machine that there is not',
      request: ['PUT', `${below}/import-vm`, { ...bundle, machine_remote_path: 'bundles/other.macvm' }],
      status: 409,
    },
    {
      name: 'delete a manifest and leave its pack',
      request: ['DELETE', `${below}/web/2/x86_64?clean_remote=false`],
      status: 202,
      effects: [answers(404, ['GET', `${below}/web/2`]), audited(`${operations}delete`)],
    },
    {
      name: 'import the pack that was left',
      request: ['PUT', `${below}/import`, place],
      status: 200,
      effects: [shows(`${below}/web/2/x86_64`, [{ version: '2' }])],
    },
    {
      name: 'delete a manifest with its pack',
      request: ['DELETE', `${below}/web/2/x86_64`],
      status: 202,
      effects: [answers(404, ['GET', `${below}/web/2`]), answers(404, ['PUT', `${below}/import`, place])],
    },
    {
      name: 'delete a catalog id',
      request: ['DELETE', `${below}/mac?clean_remote=false`],
      status: 202,
      effects: [answers(404, ['GET', `${below}/mac`])],
    },
    { name: 'delete what there is not', request: ['DELETE', `${below}/mac`], status: 404 },
  ]
}
