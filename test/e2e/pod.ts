/**
 * The pod of `collector-config/kubernetes.yaml`, as far as one machine has it: the root file system of the image is read-only, the volumes are
 * mounted, the user is that of the pod without capabilities, and a memory cgroup has its limit. Kubernetes itself, its probes and its network policy
 * are not run.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { parseAllDocuments } from 'yaml'

interface Mount {
  readonly name: string
  readonly mountPath: string
}

interface PodSpec {
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number }
  readonly containers: readonly [
    {
      readonly args: readonly string[]
      readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
      readonly resources: { readonly limits: { readonly memory: string } }
      readonly volumeMounts: readonly Mount[]
    },
  ]
}

interface Manifest {
  readonly kind: string
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}

/** A started pod. */
export interface Pod {
  /** Mebibytes that it may use. */
  readonly limitMiB: number
  /** Bytes that it has used at most. */
  readonly peakBytes: () => number
  readonly token: string
  readonly child: ChildProcess
  /** Ends it as Kubernetes does. @returns its exit code */
  readonly stop: () => Promise<number | null>
}

const CGROUP = '/sys/fs/cgroup/memory'

/** What is missing to start a pod. */
export const missingForPod: string | undefined =
  spawnSync('unshare', ['-m', 'setpriv', '--version']).status !== 0
    ? 'root, unshare and setpriv'
    : existsSync(join(CGROUP, 'memory.limit_in_bytes'))
      ? undefined
      : 'a memory cgroup (version 1)'

const SCRIPT = `
set -e
root=$1; cgroup=$2; user=$3; group=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc none "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o remount,ro,bind "$root"
echo $$ > "$cgroup/cgroup.procs"
exec setpriv --no-new-privs chroot --userspec="$user:$group" --groups= "$root" sh -c 'cd /app && exec "$@"' sh "$@"
`

/**
 * Starts the pod of the manifest.
 *
 * @param root the folder with the image's files
 * @param entrypoint the command of the image, without the manifest's arguments
 * @param options arguments that come after those of the manifest
 */
export function startPod(root: string, entrypoint: readonly string[], options: readonly string[]): Pod {
  const text = readFileSync(new URL('../../collector-config/kubernetes.yaml', import.meta.url), 'utf8')
  const manifests = parseAllDocuments(text).map((each): Manifest => each.toJS())
  const of = (kind: string): Manifest => {
    const found = manifests.find((each) => each.kind === kind)
    if (found === undefined) throw new Error(`Expected a ${kind} in kubernetes.yaml, got none.`)
    return found
  }
  const { securityContext, containers } = of('StatefulSet').spec.template.spec
  const [{ args, resources, volumeMounts, securityContext: own }] = containers
  if (!own.readOnlyRootFilesystem) throw new Error('Expected a read-only root file system.')
  const secrets = of('Secret').stringData ?? {}
  const contents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    data: {},
    config: of('ConfigMap').data ?? {},
    secrets,
  }
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-pod-'))
  const mounts = volumeMounts.flatMap(({ name, mountPath }) => {
    const from = join(folder, name)
    mkdirSync(from)
    for (const [file, content] of Object.entries(contents[name] ?? {})) writeFileSync(join(from, file), content)
    if (name === 'data') chownSync(from, securityContext.runAsUser, securityContext.runAsGroup)
    mkdirSync(join(root, mountPath), { recursive: true })
    return [from, mountPath]
  })
  for (const name of ['proc', 'dev', 'sys']) mkdirSync(join(root, name), { recursive: true })

  const limitMiB = mebibytes(resources.limits.memory)
  const cgroup = mkdtempSync(join(CGROUP, 'spanscore-pod-'))
  writeFileSync(join(cgroup, 'memory.limit_in_bytes'), String(limitMiB * 1024 * 1024))
  const ids = [String(securityContext.runAsUser), String(securityContext.runAsGroup)]
  const child = spawn(
    'unshare',
    ['-m', 'sh', '-c', SCRIPT, 'sh', root, cgroup, ...ids, ...mounts, '--', ...entrypoint, ...args, ...options],
    { stdio: ['ignore', 'inherit', 'inherit'], env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' } },
  )
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    limitMiB,
    peakBytes: () => Number(readFileSync(join(cgroup, 'memory.max_usage_in_bytes'), 'utf8')),
    token: secrets['sender-token'] ?? '',
    child,
    stop: async () => {
      child.kill()
      const code = await closed
      rmdirSync(cgroup)
      rmSync(folder, { recursive: true })
      return code
    },
  }
}

/** @param given such as `1Gi` */
function mebibytes(given: string): number {
  const [, number, unit] = /^(\d+)(Mi|Gi)$/.exec(given) ?? []
  if (number === undefined) throw new Error(`Expected a limit such as 512Mi or 1Gi, got ${given}.`)
  return Number(number) * (unit === 'Gi' ? 1024 : 1)
}
