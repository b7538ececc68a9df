import type { Image } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { formatBytes } from '../parts/byte-size.ts'
import { ListPage } from '../parts/list-page.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { images } from '../state/images.ts'
import { linkTo } from '../state/route.ts'

const columns: readonly Column<Image>[] = [
  { title: 'Name', cell: ({ id, name }) => <a href={linkTo('images', id)}>{name}</a> },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Stored', kind: 'number', cell: ({ size }) => formatBytes(size) },
  { title: 'Disk', kind: 'number', cell: ({ virtual_size: size }) => formatBytes(size) },
  { title: 'Registered', kind: 'wide', cell: ({ created_at: time }) => formatTime(time) },
  { title: 'Description', kind: 'wide', cell: ({ description }) => description },
]

/** The registered images, and how to get one. */
export const ImagesPage = (): JSX.Element => (
  <ListPage
    title="Images"
    collection={images}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, kind, description, sha256 }) => `${name} ${kind} ${description} ${sha256}`}
    empty="There are no images yet. Pull one from an address; machines are made of it in a moment."
  >
    <Action
      label="Pull an image"
      kind="primary"
      operation="images.create"
      explanation="The service fetches the file as a job. Formats: raw, qcow2, vmdk, vhdx, OVA and ISO."
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'url', label: 'Address', kind: 'url', isRequired: true },
        { name: 'sha256', label: 'SHA-256', pattern: '[0-9a-fA-F]{64}', help: 'The digest that the file must have.' },
        { name: 'description', label: 'Description' },
      ]}
      toCall={({ name, url, sha256, description }) => ({
        body: { name, url, ...(sha256 && { sha256 }), ...(description && { description }) },
        async: true,
      })}
    />
  </ListPage>
)
