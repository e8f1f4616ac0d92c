"""speakrs 0.7.0 model folder from the stand-in bundle of community-1."""
import sys, numpy as np
from pathlib import Path
from safetensors.numpy import load_file, save_file
src, standin, out = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]); out.mkdir(exist_ok=True)
s = load_file(src/'segmentation.safetensors'); print({k: v.shape for k, v in s.items()})
t = {}
g = lambda w: np.concatenate([w[0:128], w[384:512], w[128:256], w[256:384]])  # i f g o -> i o f c
num = 100
for layer in range(4):
    n = lambda kind, rev: s[f'lstm.{kind}_l{layer}' + ('_reverse' if rev else '')]
    b = np.stack([np.concatenate([g(n('bias_ih', r)), g(n('bias_hh', r))]) for r in (0, 1)])
    w = np.stack([g(n('weight_ih', r)) for r in (0, 1)]); r_ = np.stack([g(n('weight_hh', r)) for r in (0, 1)])
    for x in (b, w, r_):
        t[f'onnx::LSTM_{num}'] = np.ascontiguousarray(x, dtype=np.float32); num += 1
for name in ('linear.0', 'linear.1', 'classifier'):
    t[f'onnx::MatMul_{num}'] = np.ascontiguousarray(s[name + '.weight'].T); num += 1
    t[name + '.bias'] = s[name + '.bias']
for k, v in s.items():
    if k.startswith('sincnet.'): t[k] = v
for k in ('low_hz_', 'band_hz_'):
    t[f'sincnet.conv1d.0.filterbank.{k}'] = s[f'sincnet.conv1d.0.filterbank.{k}'].reshape(40, 1)
n = 2 * np.pi * np.arange(-125, 0, dtype=np.float64) / 16000
t.setdefault('sincnet.conv1d.0.filterbank.n_', n.astype(np.float32).reshape(1, 125))
t.setdefault('sincnet.conv1d.0.filterbank.window_', np.hamming(251)[:125].astype(np.float32))
t['onnx::Div_90'] = (t['sincnet.conv1d.0.filterbank.n_'] / 2).astype(np.float32).reshape(1, 125)
save_file({k: np.ascontiguousarray(v) for k, v in t.items()}, out/'segmentation-3.0.safetensors')
e = load_file(standin); o = {}
for k in e:
    if k.endswith('.weight') and e[k].ndim == 4:
        conv = k[:-7]
        bn = conv.replace('conv', 'bn') if 'shortcut' not in conv else conv[:-1] + '1'
        scale = e[bn + '.weight'].astype(np.float64) / np.sqrt(e[bn + '.running_var'].astype(np.float64) + 1e-5)
        o[k] = (e[k] * scale[:, None, None, None]).astype(np.float32)
        o[conv + '.weight_bias'] = (e[bn + '.bias'] - e[bn + '.running_mean'] * scale).astype(np.float32)
o['resnet.seg_1.weight'] = e['resnet.seg_1.weight']; o['resnet.seg_1.bias'] = e['resnet.seg_1.bias']
save_file({k: np.ascontiguousarray(v) for k, v in o.items()}, out/'wespeaker-multimask-tail.safetensors')
p = np.load(src/'plda.npz'); x = np.load(src/'xvec_transform.npz')
for k in ('mu', 'tr', 'psi'): np.save(out/f'plda_{k}.npy', p[k])
for k in ('mean1', 'mean2', 'lda'): np.save(out/f'plda_{k}.npy', x[k])
(out/'wespeaker-voxceleb-resnet34.min_num_samples.txt').write_text('400\n')
