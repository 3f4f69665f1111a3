/* The stand-in's link to the DSP: some calls fail, some rebuild the link, and some leave it dead, as measured on the
 * device library. All device handles of the process share it.
 *
 * Lines of the script:
 *   device 1           votes of an id go by one invoke, which is sent last; each RPC setting goes by a control of its own
 *   restart N ANSWER   a new N restarts the DSP, and FastRPC answers ANSWER to the next invoke or control
 *   down 1             the DSP is down: no link can be opened
 *   spoilt 1           another caller spoils every rebuild
 * Each invoke and control is a line of the trace, before the line of the function that makes it. */

enum { RESET = 0x68, GONE = 0x27, REFUSED = 0x72, ANSWER_BITS = 0x3ff };
enum { TRANSPORT = 13003, FAILED = 13006, SYSTEM_ERROR = 1003, LONGEST_POLLING_US = 9999 };

/* answer: FastRPC's answer to the next call; 0 is success. dead: every call fails until the device is made again. */
static struct { long long restarts, answer; bool dead; int handles; } fastrpc;

static bool is_device(void) { return number("device", 0); }

static void look_for_a_restart(void) {
  long long restart, answer;
  if (setting("restart", &restart, &answer) != 2 || restart == fastrpc.restarts) return;
  fastrpc.restarts = restart;
  fastrpc.answer = answer & ANSWER_BITS;
}

static Handle rebuild(void) {
  fastrpc.answer = 0;
  fastrpc.dead = number("down", 0) || number("spoilt", 0);
  return fastrpc.dead ? LINK_DEAD : LINK_LOST;
}

static Handle invoke(void) {
  bool rebuilds = fastrpc.answer == RESET || fastrpc.answer == GONE || fastrpc.answer == REFUSED;
  Handle code = fastrpc.dead ? TRANSPORT : !fastrpc.answer ? 0 : rebuilds ? rebuild() : TRANSPORT;
  trace("invoke", code, "");
  return code;
}

static Handle control(uint32_t option, uint32_t value) {
  char text[40];
  if (option == POLLING && value > LONGEST_POLLING_US) return FAILED;
  Handle code = fastrpc.dead ? FAILED : !fastrpc.answer ? 0 : fastrpc.answer == RESET ? rebuild() : FAILED;
  snprintf(text, sizeof text, " %u %u", option, value);
  trace("control", code, text);
  return code;
}

/* The first device handle opens a link, and the others share it. */
static Handle open_link(void) {
  if (!fastrpc.handles && is_device() && number("down", 0)) return INVALID_CONFIG;
  if (!fastrpc.handles++) fastrpc.answer = 0, fastrpc.dead = false;
  return 0;
}

/* Returns whether this was the last device handle, which closes the link. */
static bool leave_link(void) { return fastrpc.handles && !--fastrpc.handles; }

static Handle answer_to_free(void) {
  return is_device() && (fastrpc.dead || fastrpc.answer) ? SYSTEM_ERROR : 0;
}
