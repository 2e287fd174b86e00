// The broker section of `trunkline doctor`: whether one runs and what it saves, or why it is not used. Everything works
// without it, so nothing here is a failure.
import { isTrunklineError } from "@trunkline/core";
import type { CommandContext } from "../../terminal/context.js";
import { counted } from "../../terminal/output.js";
import type { Page } from "../../terminal/report-page.js";
import { askStatus, oddSetting, whyOff } from "../broker/ask-broker.js";
import { savedText, summaryOf } from "../broker/broker-page.js";
import type { BrokerStatus } from "../broker/broker-status.js";

interface BrokerCheck {
  readonly status: "running" | "not-running" | "off" | "unavailable";
  /** Why it is off or unavailable. */
  readonly reason?: string;
  readonly broker?: BrokerStatus;
}

export async function checkBroker(context: CommandContext): Promise<BrokerCheck> {
  const off = whyOff(context.env);
  try {
    const broker = await askStatus(context);
    if (off !== undefined) return { status: "off", reason: off, broker };
    return broker === undefined ? { status: "not-running" } : { status: "running", broker };
  } catch (error) {
    if (!isTrunklineError(error, "IO")) throw error;
    return off === undefined ? { status: "unavailable", reason: error.message } : { status: "off", reason: off };
  }
}

export function jsonBroker({ status, reason, broker }: BrokerCheck): Record<string, unknown> {
  if (broker === undefined) return { status, reason: reason ?? null };
  const { version, pid, started_at, memory_bytes = null, clients, servers, saved } = broker;
  return {
    ...{ status, reason: reason ?? null, version, pid, started_at, memory_bytes },
    clients: clients.length,
    servers: servers.filter((server) => server.pid !== undefined).length,
    saved,
  };
}

export function showBrokerCheck(page: Page, { status, reason, broker }: BrokerCheck, context: CommandContext): void {
  const { palette } = page;
  page.gap();
  page.text("Broker", { colour: palette.heading });
  const odd = oddSetting(context.env);
  if (odd !== undefined) page.text(odd, { indent: 2, colour: palette.warning });
  switch (status) {
    case "not-running":
      page.text("not running; the next `trunkline serve` starts one", { indent: 2 });
      return;
    case "unavailable":
      page.text(`${reason} Trunkline works without it: every window then runs its own servers.`, {
        indent: 2,
        colour: palette.warning,
      });
      return;
    case "off":
      page.text(`not used here: ${reason}`, { indent: 2 });
      break;
    case "running":
      break;
  }
  if (broker === undefined) return;
  const { clients, servers, saved } = broker;
  const running = servers.filter(({ pid }) => pid !== undefined).length;
  const facts = [
    `${summaryOf(broker, { nowMs: context.clock.now(), userHome: context.userHome })}`,
    counted(clients.length, "client"),
    counted(running, "server process", "server processes"),
  ];
  page.text(`running: ${facts.join(", ")}`, { indent: 2 });
  const savedLine = savedText(saved);
  if (savedLine !== undefined) page.text(savedLine, { indent: 2 });
  page.text("more: trunkline broker", { indent: 2 });
}
