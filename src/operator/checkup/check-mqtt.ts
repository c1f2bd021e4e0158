import { printableLine } from "../../lib/text/printable.ts";
import type { ToldMqtt } from "../remote/ask-findings.ts";
import type { Problem } from "./problem.ts";

/** What is wrong with the way through an MQTT broker, as the server tells of it. */
export function checkMqtt(mqtt: ToldMqtt): readonly Problem[] {
  const { connections, connected, unassured_messages } = mqtt;
  const { unheard_messages = 0, unheard_topics = [] } = mqtt;
  const problems: Problem[] = [];
  if (connected < connections) {
    problems.push({
      what: `${connected} of ${connections} connections to the MQTT broker are up: the rest of what phones publish waits there.`,
      advice:
        "See that the broker runs and knows the user and the password; the server's log says what it hears.",
    });
  }
  if (unassured_messages > 0) {
    problems.push({
      what: `Phones published with QoS 0, which the broker keeps for nobody: ${unassured_messages} of what came.`,
      advice: "Set QoS 1 in the apps: else what they send while the server is away is lost.",
    });
  }
  if (unheard_messages > 0) {
    problems.push({
      what: `${unheard_messages} positions were published to topics that --mqtt-topic does not take, and are not stored: ${unheard_topics.map(printableLine).join(", ")}.`,
      advice:
        "Have the app publish to owntracks/USER/DEVICE, or add the topics to --mqtt-topic if they name a user and a device.",
    });
  }
  return problems;
}
