import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'

interface Props {
  readonly operation: string
  /** The parameters of the paths of the manifest. */
  readonly manifest: {
    readonly id?: string
    readonly catalogId: string
    readonly version: string
    readonly architecture: string
  }
}

/** A button that makes a machine of a manifest. */
export const PullManifest = ({ operation, manifest }: Props): JSX.Element => {
  const { id, catalogId, version, architecture } = manifest
  return (
    <Action
      label="Pull"
      kind="primary"
      operation={operation}
      explanation="The service makes a machine of the pack, as a job."
      fields={[
        { name: 'name', label: 'Name of the machine', value: `${catalogId}-${version}`, isRequired: true },
        { name: 'start', label: 'Start the machine', kind: 'checkbox' },
      ]}
      toCall={({ name, start }) => ({
        ...(id !== undefined && { params: { id } }),
        body: {
          catalog_id: catalogId,
          version,
          architecture,
          machine_name: name,
          ...(start && { start_after_pull: true }),
        },
      })}
    />
  )
}
