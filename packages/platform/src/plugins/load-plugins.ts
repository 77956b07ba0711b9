import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createStrategyRegistry, type ContextStrategyRegistry, type Interceptor } from "@shiftwork/pipeline";
import { interceptorInThread } from "./interceptor-in-thread.ts";
import { faultOfPlugin, type PluginModule } from "./plugin-module.ts";
import { openPluginThreads, type PluginThreads } from "./plugin-threads.ts";
import { strategyInThread } from "./strategy-in-thread.ts";

/** What one module brought in, by the ids it gave. */
export interface LoadedPlugin {
  /** As it stands in the configuration. */
  readonly specifier: string;
  readonly strategies: readonly string[];
  readonly interceptors: readonly string[];
}

/** Everything an assembly takes from plugins; API and workers of one installation load the same list. */
export interface LoadedPlugins {
  /** In the order of the configuration. */
  readonly list: readonly LoadedPlugin[];
  /** The built-in strategies and those of the plugins. */
  readonly strategies: ContextStrategyRegistry;
  readonly interceptors: readonly Interceptor[];
  /**
   * Starts a thread of each plugin, so that the first prompt need not wait for one within a plugin's two seconds.
   * @throws PluginError for a module that cannot run in a thread.
   */
  warmUp(): Promise<void>;
  /** Ends the threads the plugins run in. */
  close(): Promise<void>;
}

/** A module of the configuration cannot be used. The message names it and says what to change. */
export class PluginError extends Error {
  override readonly name = "PluginError";
}

/**
 * Imports every module and registers what it exports as `default`: `{ strategies?, interceptors? }`. A specifier is a
 * package's name, a path from the working directory (`./…`) or an absolute one. What it exports runs in
 * threads of the module, which start with the first call.
 * @throws PluginError for a module that cannot be imported or exports something else.
 */
export async function loadPlugins(specifiers: readonly string[]): Promise<LoadedPlugins> {
  const strategies = createStrategyRegistry();
  const interceptors: Interceptor[] = [];
  const list: LoadedPlugin[] = [];
  const opened = new Map<string, PluginThreads>();
  for (const specifier of specifiers) {
    const url = locate(specifier);
    const plugin = await importPlugin(specifier, url);
    const threads = openPluginThreads({ url });
    opened.set(specifier, threads);
    for (const [index, strategy] of (plugin.strategies ?? []).entries()) {
      strategies.register(strategyInThread(strategy, index, threads));
    }
    for (const [index, interceptor] of (plugin.interceptors ?? []).entries()) {
      if (interceptors.some(({ id }) => id === interceptor.id)) {
        throw new PluginError(`The plugin "${specifier}" brings a second interceptor "${interceptor.id}". Remove one.`);
      }
      interceptors.push(interceptorInThread(interceptor, index, threads));
    }
    list.push({ specifier, strategies: idsOf(plugin.strategies), interceptors: idsOf(plugin.interceptors) });
  }
  return {
    list,
    strategies,
    interceptors,
    async warmUp() {
      await Promise.all([...opened].map(([specifier, threads]) => warmUp(specifier, threads)));
    },
    async close() {
      await Promise.all([...opened.values()].map((threads) => threads.close()));
    },
  };
}

async function warmUp(specifier: string, threads: PluginThreads): Promise<void> {
  try {
    await threads.warmUp();
  } catch (error) {
    throw new PluginError(`The plugin "${specifier}" cannot run in a thread: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function locate(specifier: string): string {
  const isPath = specifier.startsWith("./") || specifier.startsWith("../") || isAbsolute(specifier);
  return isPath ? pathToFileURL(resolve(specifier)).href : specifier;
}

async function importPlugin(specifier: string, url: string): Promise<PluginModule> {
  const exported = await importDefault(specifier, url);
  const fault = faultOfPlugin(exported);
  if (fault !== null) throw new PluginError(`The plugin "${specifier}" cannot be used: it ${fault}.`);
  return exported as PluginModule;
}

async function importDefault(specifier: string, url: string): Promise<unknown> {
  try {
    const module = (await import(/* @vite-ignore */ url)) as { readonly default?: unknown };
    return module.default;
  } catch (error) {
    throw new PluginError(`The plugin "${specifier}" cannot be imported: ${messageOf(error)}`, { cause: error });
  }
}

function idsOf(entries: readonly { readonly id: string }[] | undefined): readonly string[] {
  return (entries ?? []).map(({ id }) => id);
}
