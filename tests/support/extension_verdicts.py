"""Files that showed errors in the model of the vendor's parser, each with the parser's behaviour."""

from __future__ import annotations

import json

_CORNERS = (f"{clock}VoltageCorner{limit}" for clock in ("bus", "core") for limit in ("Min", "Target", "Max"))
_CLOCKS = f'"dcvsControl": {json.dumps(dict.fromkeys(_CORNERS, "DCVS_VOLTAGE_VCORNER_NOM"))}'
_BOUNDING = '"hmx_frequency": 2, "dsp_core_frequency": 2'


def _graph(text: str) -> str:
    return f'{{"graphs": [{{{text}}}]}}'


def _items(*items: str) -> str:
    custom = ", ".join(f'{{"graphState": {item}}}' for item in items)
    return _core(f'"perf_profile": "custom", "custom": [{custom}]')


def _core(text: str) -> str:
    return f'{{"devices": [{{"cores": [{{{text}}}]}}]}}'


def _twice(key: str, first: str, later: str) -> str:
    return f'{{"{key}": {first}, "{key}": {later}}}'


TAKEN = (
    '{"graphs": [{"dlbc_share_io_buffer": true, "weights_packing_perf_profile": "burst"}]}',
    '{"context": {"group_id_weight_sharing_enabled": true}}',
    '{"devices": [{"cores": [{"device_type": 1, "core_id_use_client_context": true, "core_id_dsp_arch": "v79"}]}]}',
    '{"devices": [{"contextKey": "a"}]}',
    _twice("graphs", '[{"O": 4, "dlbc": 1}]', '[{"O": -1}]'),
    _twice("graphs", '[{"perf_profile": "burst"}]', '[{"perf_profile": "x"}]'),
    _twice("devices", '[{"device_id": 1}]', '[{"device_id": -1}]'),
    _twice("zgraphs", '{"O": 1}', '{"O": "x"}'),
    _twice("memory", '{"mem_type": "shared_buffer"}', '{"zz": 1}'),
    _graph('"xO": [1, 2], "xO": [1]'),
    '{"context": {"graph_splitting_configs": {"my_num_prepare_threads": "x"}}}',
    '{"context": [{}, {"num_prepare_threads": 1}]}',
    '{"zz": [0e308, 0.0e309, 0e-999]}',
    '{"contextx": {"lora_preload_buffer_group": [true]}}',
    '{"context": {"lora_preload_buffer_groupx": 1, "x": {"lora_preload_buffer_group": 1}}}',
    '{"groupContext": {"share_resources": true, "share_resources\\u0000": false}}',
    _graph('"dynamic_partitioning": [0, 1]'),
    _graph('"x": {"dynamic_partitioning": {"a": 0}}'),
    _graph('"x": {"vtcm_mb": {"dynamic_partitioning": [0]}}'),
    _graph(f'"xhmx_op_bounding": {{{_BOUNDING}}}'),
    _graph(f'"x": {{"hmx_op_bounding": {{{_BOUNDING}}}}}'),
    _graph(f'"hmx_op_bounding": {{{_BOUNDING}, "hmx_frequencyx": 1}}'),
    _graph(f'"hmx_op_bounding": {{{_BOUNDING}, "vtcm_mb": 1}}'),
    _graph('"hmx_op_bounding": {"hmx_frequency": 3, "dsp_core_frequency": 18446744073709551616}'),
    _core('"core_id": 5, "core_id": "x"'),
    _core('"core_id": null, "core_id": null'),
    _core('"my_core_id": 1'),
    _core('"perf_profile": "burst", "custom": []'),
    _items(f'["init_start", "init_done"], {_CLOCKS}', '["init_start"]'),
    _items('["init_start"]', f'["init_start"], {_CLOCKS}'),
    '{"devices": [{"dsp_arch": "v90"}]}',
    '{"xdevices": [{"cores": [{"perf_profile": "burst", "hmxControl": {"x": 1}}]}]}',
    '{"devices": [{"xcores": [{"hmxControl": {"hmxPerfMode": 1}}]}]}',
    '{"devices": [{"zz": null, "zz": 1, "cores": []}]}',
    '{"zz": null, "zz": 1}',
    '{"memory": {"zz": null, "zz": 1}}',
)
REFUSED = (
    '{"graphs": [{"dlbc_share_io_buffer": 1}]}',
    '{"devices": [{"cores": [{"device_type": 2}]}]}',
    '{"devices": [{"cores": [{"profiling_level_use_client_context": "x"}]}]}',
    '{"devices": [{"contextKey": 1}]}',
    '{"context": [{"lora_preload_buffer_group": {"a": 1}}]}',
    _twice("graphs", '[{"O": 4}]', '[{"dlbc": 1}]'),
    _twice("graphs", '[{"O": 4}]', '[{"O": 1.5}]'),
    _twice("graphs", '[{"graph_names": ["a"]}]', '[{"graph_names": ["a", "b"]}]'),
    _twice("graphs", '[{"x": [{"O": 1}]}]', '[{"x": {"O": 1}}]'),
    _twice("devices", '[{"cores": [{"core_id": 1}]}]', '[{"cores": [{"perf_profile": "burst"}]}]'),
    _twice("context", '{"group_id": 0}', '{"extended_udma": true}'),
    _twice("memory", "{}", '{"mem_type": "shared_buffer"}'),
    _twice("groupContext", '{"share_resources": true}', '{"share_resources_optimization_type": 1}'),
    _graph('"xO": 1, "xO": {"O": 1}'),
    _core('"my_core_id\\u0000": 1'),
    _core('"perf_profile": "burst", "hmxControl": {"xhmxPerfMode": 256}'),
    '{"groupContext": {"share_resources\\u0000": true}}',
    '{"context": {"graph_splitting_configs": {"my_num_prepare_threads": -1}}}',
    '{"context": [{}, {"graph_splitting_configs": {"num_prepare_threads": 1}}]}',
    _graph('"xdynamic_partitioning": [0, 1]'),
    _graph('"xdynamic_partitioning": {"a": 1}'),
    _graph('"weights_packingx": {"dynamic_partitioning": [0]}'),
    _graph('"zz": {"vtcm_mbx": {"dynamic_partitioning": [5000]}}'),
    _graph(f'"hmx_op_boundingx": {{{_BOUNDING}}}'),
    _graph(f'"hmx_op_bounding": {{{_BOUNDING}, "x": {{"hmx_frequency": 1}}}}'),
    _graph(f'"hmx_op_bounding": {{{_BOUNDING}, "dynamic_partitioning": [0]}}'),
    _graph('"zz": null, "zz": 1'),
    _core('"core_id": null, "core_id": 5'),
    _core('"core_id": [], "core_id": 5'),
    _core('"_x": null, "_x": "y"'),
    _core('"perf_profile": "burst", "custom": {}'),
    _items(f'["init_start"], {_CLOCKS}', '["init_start", "init_done"]'),
    _items(f'["init_start", "init_done"], {_CLOCKS}', '["init_start"]', '["init_done"]'),
    _items(f'["init_start"], {_CLOCKS}, "hmxControl": {{"x": {{"cengControl": {{"cengPerfMode": 1}}}}}}'),
    '{"devices": [{"zz": {}, "zz": {"device_id": 3}, "cores": []}]}',
    '{"xdevices": [{"cores": [{"perf_profile": "custom"}]}]}',
    '{"devices": [], "xdevices": [{"cores": [{"perf_profile": "custom"}]}]}',
    '{"devices": [{"xcores": [{"hmxControl": {"hmxPerfMode": ""}}]}]}',
    '{"context": {"zz": null, "zz": {"group_id": 1}}}',
)
