//go:build ignore

// Command names prints mangled names of Swift, one a line, that between them
// use every rule of the grammar: each operator behind each operand that it may
// have. Most of them no compiler wrote.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// types each leave one type on the stack. Module game has class Engine,
// structure Score, enumeration Kind and protocols Sound and Mute.
var types = strings.Fields(`
Si SS 4game6EngineC 4game5ScoreV 4game4KindO 4game5SoundP 4game4Namea 4game5OtherXY So8NSObjectC SC7CGErrorV ScM ScA ScTySiSSG
SaySiG SDySSSiG SiSg SaySiGSg ShySSG 4game5ScoreVySiG 4game6EngineC4PartVySi_SSG 4game4NameaySiG 4game5SoundPySiG 4game5OtherXYySiG
4game6EngineC5sound_Si_tF4PartVy_SSG s5SliceVy4game6EngineCG_yt Si_Sst Si_SStSg 4sizeSi_4nameSSt Si_SSdt yt ySi_SStc
BA Bb BB Be BI BO Bo Bp Bj BD Bd Bc Bt Bw BP BT Bf32_ Bi8_ Bi2048_ Bi8_Bv4_ BwBv2_ $3_SiBV BpBv4_
yyc SiSic SiSiKc ySiYac ySi_SStYaYbKc ySSSiYKc yyScMYcc yySiYAc yySSYCc SiSiYjdc SiSiYjfc SiSiYjlXE SiSiYjrc ySiYTc
yyXE yyXA yyXf yyXK yyXU yyXL yyXB yyXC yyXzB3Fvi yyXzC3Fvi SiXE ySiYuc ySiYic ySiYkc ySiYtc ySiYgc ySihc ySinc ySizc
x q_ q0_ qz qd__ qd0_1_ qs xm Sim 4game5Sound_pm 4game5Sound_pXp Sixmt SiXMt SiXMT SiXMo 4game5Sound_pXmT SiXpXp
yp 4game5Sound_p 4game5Sound_AA4Mutep 4game5Sound_AA4MutepSg yXl 4game5Sound_Xl 4game5Sound_AA4MuteXl 4game5Sound_4game6EngineCXc y4game6EngineCXc
SiXo SiXu SiXw SiXb SiXD SiSiz_Xx Siz_SS_tXx Si_Xx Siz_Xx y_Xx xz_SSSi_lXX Siz_SSSi_lXX Xe SiXSq SiXSa SiXSA SSSiXSD SiXSp yycXSq yycSg
$n5_ $5_ $_ xxQp xQPQp Si_SSQP yQP Si_SSQSd SiSSQSi Si_SSQSi xQPQe0_ x4ItemQa 4Itemx4game5SoundPQx
4ItemQz 4Item4game5SoundPQz 4ItemSTQz 4ItemQy_ 4Item_SlIndexQZ 4Item5IndexQz 4ItemST_5IndexSlQZ 4ItemST_5IndexSlQY_ x4ItemST_5IndexSlQX x4ItemQx 4ItemQyd__
4game4makeQryFQOyQo_ 4game4makeQryFQOySi_SSQo0_ 4game4makeyyFQOy_Qo_ Qr QR0_ SHRzlu xSHRzluc SHRzlx4ItemSTQzu
xSHRzlc SRzl_x SiXSqRz_XP 4game5SoundP4Itemx_SiRts_XP SiRs_XP Si4game5SoundP4ItemRtz_XP 4game5SoundPSi4ItemAaBPRts_XP
IeghHr_ Iegy_ SiIegy_ SiSSIegnr_ Siyc SiSSs5Error_pIegyozo_ SiSSs5Error_pIegnTrzo_ SiIgyT_ SiIgyI_ SiIgyL_ SiIgywTIL_ SiIgdTIL_ SiIgod_ SiIgow_
SiIexCyd_ SiIetMy_ SiIetOg_ SiIetWx_ SiIetKl_ SiIetBe_ SiIgzB3Fvib_ SiIgzC3Fviy_ SiIgzy_ SiIegAYi_ SiIegIYl_ SiIegGYy_ SiSiIegyYd_
SiIeAgd_ SiIedgd_ SiIelgd_ SiIefgd_ SiIergd_ SiIegTo_ SiIegh_ SiIeghHTi_ SiIegX_ SiIegv_ SiIegp_ SiIegm_ SiIegc_ SiIegu_ SiIega_ SiIegk_ SiIegl_ SiIegg_
xSHRzlIegy_ xSHRzlPIegy_ xSHRzlySi_Isegy_ SixSHRzlySi_IsIySS_egy_ xlySi_Isegn_ SiySS_Iegy_ SiySS_IIegy_ SSIegr_ SSIegYvd_
`)

// members each leave an entity on the stack.
var members = strings.Fields(`
4game3runyyF 4game3run4withySi_tF 4game3run4with_yySi_SStF 4game3runyySiF 4game3runyySi_SSdtF 4game3runyyYaF 4game3runyyYaKF 4game3runyySSYKF
4game6EngineC4stepyyF 4game6EngineC4stepyyFZ 4game6EngineC4step2byAA5ScoreVSi_tF 4game5SoundP4playyyF 4game5SoundPAAE4playyyF
4game5SoundPAASHRzrlE4playyyF Si4gameE6doubleSiyF Si4gameE6doubleSivp SaSi4gameE3sumyyF SaAASHRzlE3sumxyF 4game3maxyxx_xtSLRzlF 4game4bothyx_q_tx_q_tr0_lF
4game3mapyqd__x_qd__tr_lF 4game4packyyxxQpRvzlF 4game4packyyxxQp_q_xQpq_tRvzRv_r0_lF 4game4sizeyyxRVzSi_lF 4game4sizeyySiRVzlF
4game4oncey$0_yyRi_zlF 4game3anyyyxRi_zRi0_zlF 4game3anyyyxRi3_zlF 4game4moveyyxnRI_zlF 4game1aoiyyF 4game1aopyySiF 4game3aceoPyySiF 4game2eeoiySbSi_SitF
4game6EngineC4loadyy4ItemST_pRtsF 4game3fooyyx4ItemSTRpzlF 4game3fooyyxSiRszlF 4game3fooyyx4game6EngineCRbzlF 4game3fooyyxRlzClF 4game3fooyyxRlzUlF
4game3fooyyxRlzRlF 4game3fooyyxRlzNlF 4game3fooyyxRlzDlF 4game3fooyyxRlzTlF 4game3fooyyxRlzBlF 4game3fooyyxRlzE8_4_lF 4game3fooyyxRlze8_lF 4game3fooyyxRlzM8_4_lF
4game3fooyyxRlzm8_lF 4game3fooyyxRlzS8_lF 4game3fooyyxq_Rhzr0_lF 4game3fooyyx4ItemSTSiRtzlF 4game3fooyyx4ItemST_5IndexSlSiRTzlF 4game3fooyyx4ItemSTSHRpzlF
4game3fooyyx4ItemST_5IndexSlSHRPzlF 4game3fooyyx4ItemST4game6EngineCRczlF 4game3fooyyx4ItemST_5IndexSl4game6EngineCRCzlF 4game3fooyyx4ItemSTRmzClF
4game3fooyyx4ItemST_5IndexSlRMzClF 4game3fooyyxxSiRSlF 4game3fooyyxxSHRQlF 4game3fooyyxx4game6EngineCRBlF 4game3fooyyxxRLClF 4game3fooyyxqd__rz0_lF 4game3fooyyxqd__rz__lF
4game5countSivp 4game5countSivg 4game5countSivG 4game5countSivs 4game5countSivm 4game5countSivw 4game5countSivW 4game5countSivr 4game5countSivy 4game5countSivM
4game5countSivx 4game5countSivi 4game5countSivb 4game5countSivz 4game5countSivau 4game5countSivaO 4game5countSivao 4game5countSivaP 4game5countSivlu
4game5countSivlO 4game5countSivlo 4game5countSivlp 4game5countSivgZ 4game5countSivpfi 4game5countSivpfP 4game5countSivpfF 4game5countSivpfW
4game6EngineCySiSScig 4game6EngineCySiSi_SStcip 4game6EngineC5labelSiSi_tcis 4game6EngineCySiSSciP 4game6EngineCyS2icisZ 4game5ScoreVyS2i33_1234567890ABCDEFLLcig
4game6EngineCfD 4game6EngineCfd 4game6EngineCfZ 4game5ScoreVfD 4game5ScoreVfZ 4game6EngineCfE 4game6EngineCfe 4game6EngineCACycfC 4game6EngineCACycfc 4game5ScoreVACycfC
4game6EngineC4fastACSb_tcfC 4game6EngineC4fastACSb_tc33_1234567890ABCDEFLlfc 4game5ScoreV33_1234567890ABCDEFLLV3runyyF 4game3run33_1234567890ABCDEFLLyyF
4game3runyyF5InnerL_V 4game3runyyF5InnerL0_V4stepyyF 4game3runyyF5innerL_yyF 4game3runyyFyycfU_ 4game3runyyFyycfU0_ 4game3runyyFyyXEfU_yyXEfU1_ 4game3runyyFyycfu_
4game3runyyFfA_ 4game3runyyFfA1_ 4game3run4withySi_tFfA_ 4game6EngineCACycfcfA_ 4game3runyyFyyKXKfu_ So8NSObjectC4gameE3fooyyF So7CGErrorLeV So7CGErrorLaV So6ThingsLcO
4game9stringifyyxxclufm 4game9stringifyySi_SStcfm 4game1TSHfp 4game4main3Addf_fMf_ 4game4main3AddfMf0_ 4game6EngineC4stepyyF3AddfMa_ 4game6EngineC4step3AddfMm_ 4game6EngineC4step3AddfMp_
4game6EngineC4step3AddfMr_ 4game6EngineC4step3AddfMc_ 4game6EngineC4step3AddfMe_ 4game6EngineC4step3AddfMb_ 4game6EngineC4step3AddfMq_ 4game3AddfMu_ 4game6EngineC3AddfMu0_
4game4main4_1_2fMX3_4_3AddfMf_ 4game9main_3fileMX 04game8main_fmt001fMX3_4_ 4game4main3AddfMf_3SubfMf_ 4game5outerL_yyF 4game3foo33_12345678LL5innerL_yyF
4game06EngineA2ToC 4game12EngineEngineC03RunA1BC 4game0A6EngineC 4game04MainA0C 4game00A4B_C 4game003Xcacd_pxaC 004game_hyaC 4game005Caf_dmaC 4game009hfhahf_dmaV 4game3foo0013abcdefg_hjikyyF
4game6EngineCXZ 4game3fooSi_tXZ 4game3fooyXZ 4game6EngineC5hello4game3fooSi_tXZ
`)

// conformances each leave a conformance on the stack.
var conformances = strings.Fields(`4game5ScoreVSHAA SaySiGSHs 4game5ScoreVyxGSHAASHRzlMc 4game5ScoreVyxGAA5SoundA2aERzl xSHRzl4game5ScoreVSHAA 4game5ScoreV4nameSHAA`)

var (
	ofType        = strings.Fields(`D Ma Mb MB MC MD Mf MF Mi MI Ml ML Mm MM Mn MN Mo MP Mr Ms Mt Mu MU Mz MJ MK Mq N WV WOB WOC WOD WOF WOH WOy WOe WOr WOs WOb WOc WOd WOf WOh WOg WOi_ WOj0_ Hn TC wal wca wta wde wxx wXX wXx wCP wCp wcp wTk wtk wpr wTK wCc wTt wtT wxs wxg wug wup wui wet wst Mcp MXX MXE Tp5 TP5 Tpq5 Xg`)
	ofMember      = strings.Fields(`D TT TTI Tc Tj Tq To TO TD Td TE TF Ta TA Tm TX Tx TI TY_ TY1_ TQ0_ Tu Twb TwB Twc Twd TwS HF MV MQ Mg Mh Mj Mk Ho Wvd Wvi WC Tv_ Tv0_r TeoGb_ Tepnbg_ TS Z Zfm Tg5 MXM MXE MXX SiTg5 Si_Tg5 Si_SSTg5 Si_TG5 Si_TB5 Si_Ts5 Si_Ti5 Si_Tgq5 Si_Tgm5 Si_Tga5 Si_Ttg5 Si_Tt1g5 Si_Tt0t2G5 Si_TtB5 SiTp5 SiTPq5 Tf4n_n Tf4d_n Tf4dx_n Tf4dGOX_n Tf4g_n Tf4gX_n Tf4o_n Tf4oX_n Tf4e_n Tf4eDGOX_n Tf4x_n Tf4i_n Tf4s_n Tf4r_n Tf4nndn_n Tf4n_r Tf4n_g Tf4dn_x Tfq4n_n Tfr4 Tfqr4 Tfa4n_n Tf4pi12_n Tf4pd3_n Tf4npi1i2_n TA.12 TATm TmTA ToTA TATA.resume.0 .llvm.123 TJfSpSr TJrUSpUSr TJdSpSr TJpSpSr TJVfSpSr TJVrUSSpSUr TJSfSpSrSP TJSrSpSrUSP WJfSpSr WJrSpSr WJdSpSr WJlSpSr Tk TK`)
	ofConformance = strings.Fields(`MA Mc WP Wp WG WI Wr Wa Hc 4ItemWt 4Item4game5SoundPWT 4Item_SHWT 4game5SoundPWb TM`)
)

// whole names are built of several operands.
var whole = strings.Fields(`
$s4game5SoundPMp $s4game5SoundPMS $s4game5SoundPHr $s4game5SoundPTL $s4game5SoundPWS $s4gameMXM $s4game6EngineCMXE $sSi4gameEMXE $s4game3foo_MXY $s4game5SoundP4Item_MXA
$s4game5SoundP4ItemTl $s4Item4game5SoundPTl $s4Item4game5SoundPTM $s4game5SoundP4ItemAaBP_AA4MuteTn $s4game5SoundP4Item_AA4MutePTN $s4game5SoundPAA4MuteTb $s4game5SoundPAA4MutePTb
$s4game5ScoreVAA5SoundA2aDP4playyyFTW $s4game5ScoreVSHAASH4hash4intoys6HasherVz_tFTW $s4game3CatC3runyyFAA6AnimalCADyyFTV $s4game5ScoreVACSHAAWl $s4game5ScoreVACSHAAWL
$sIeg_Ieg_TR $sIeg_IyB_TR $sIeg_IyB_Tr $sSiSSIegyo_SiSSIegnr_TR $sxSHRzlIegn_xIegy_SHRzlTR $sSiSSxIegn_SiSSxIegy_Ty $sSiIegy_SiIegn_SSTy $sSiIegy_SiIegn_SSSHRzlTy $sIeg_Ieg_TRScMTU $sIegH_IeghH_TRScMTU
$s4game6EngineC5countSivpACTK $s4game6EngineC5countSivpACTk $s4game6EngineC5countSivpACTKq $s4game6EngineC5countSivpxSHRzlACTK $s4game6EngineC5countSivpSHRzlACTK $s4game6EngineC4stepyyFACTkmu $s4game6EngineC4stepyyFACTkMA $s4game6EngineC4stepyyFACTKmu
$sSiTH $sSiTh $sSiSSTH $sSiSSThq $sxSHRzlTH $sSiSSSHRzlThq $sSHRzlTH
$sSo8NSStringCSgSo7NSErrorCSgIeyByy_SSTz_ $sSo7NSErrorCSgIeyBy_ytTz0_ $sSo7NSErrorCSgIeyBy_SiTZ1_ $sSo7NSErrorCSgIeyBy_SiTZ4_ $sxSo7NSErrorCSgIeyByy_xlTz_ $sSo7NSErrorCSgIeyBy_SiSHRzlTz0_
$s4game5countSi_WZ $s4game5count_WZ $s4game5count_Wz $s4game1a_1b_WZ $s4game6EngineC5count_Wz $s4game5count33_12345678LL_WZ
$sSiIegy_SiIegn_TJOf $sSiIegy_SiIegn_SHRzlTJOr $sSiSiIegyd_SiSiIegnr_TJSfSpSrSP $s4game3fooyS2fFSHRzlTJfSpSr $s4game3fooyS2fFSHRzlWJrSpSr
$s4game3runyyyXEF4$s4aTf1cn_n $s4game3runyyyXEF13$s4game1fyyFSiSSTf1cn_n $s4game3runyyyXEF13$s4game1fyyFSiTf1nc_n $s4game3runyySiF5constTf3pf_n $s4game3runyySiF13$s4game1fyyFTf3pf_n $s4game3runyySiF3abcTf3pg_n
$s4game3runyySSF3abcTf3psb_n $s4game3runyySSF3abcTf3psw_n $s4game3runyySSF4_1bcTf3psc_n $s4game3runyySSFSSSi40a1234567890123456789012345678901234567890Tf3pk_n $s4game3runyySiFSiTf3pS_n $s4game3runyySiFSiTf3pSi1i2_n
$s4game3runyyyXE_yyXEtF4$s4aTf1cC0__n $s4game3runyyF10_TF4game1fFT_T_Tf3pf_n $s4game3runyySiF3abcTf3npgd_n $s4game3runyySi_SitF3abc3defTf3pgpg_n $s4game3runyySi_SitF3abcSS3defTf3pgc_n
$s4game3runyyFSi_SSTg5Si_TG5 $s4game3runyyF5Si_Tg5 $sSaySiG4game5SoundAAHPyHC $sSaySiG4game5SoundAAHpyHCg_ $sSaySiG4game5SoundP4gameyHCMa $sSi4game5SoundAAHPyHCHX $sx4game5SoundPHD1_ $sx4game5SoundPHD2_ $sx4game5SoundPHD2_AA4MutePHI1_
$sx4game5SoundPHD2_x4ItemQzAA4MutePHA3_ $sx4game5SoundPHD1_SiHO $sSi4game5SoundAAHPSS4game5SoundAAHP_HCHC $sSi_4game5SoundAAHPyHC_HX $s4game5ScoreVySiAE5SoundAAyHCg_GMa $s4game5ScoreVySiSiAA5SoundAAyHCg_GD
$s4game3fooSSyFTTI $s4game1fyyF6suffix_D $s4game3runyycvpfiyycfU_ $s4game3runyyF_D $s4game $sSi $s $S4game3runyyF _$S4game3runyyF $e4game3runyyF _$e4game3runyyF @__swiftmacro_4game3AddfMf_.swift
_T04game3runyyF _T04game3runySi4with_tF _T04game3runySi4with_SStF _T04game3runySi_SStF _T04game3runyxlF _T04game6EngineCACSi5power_tcfC _T0SiSSIxyd_SiSSIxid_TR _T04game5countSivp _T04game6EngineCS2icig _T0SayxGMa
$sTA.1 $sTa $sxD $sSgD $sA_D $sAAD $s4gameAA $s4game6EngineCA_ $s4game6EngineCAAA $s4game6EngineC2AA $s4game6EngineC0A $s4game6EngineCA2A $sS3iD $sSiS2SSitD $s3abcLL $s3abc4defLL $s3abcLl
$s4game3runyyFTf $s4game3runyyFT $sSXe $sQe $sXSq $sMX $sTJ $sTw $sTT $sHZ $sRl $sRi $sBv $sBf_ $sBf5000_ $s0 $s00 $s000 $s9abc $s$ $s$n $sf $sfM $sv $si $sw $swzz $sWO $sWv $sYj $sIe $sIeg $sIegz $sIegY
`)

// old names are of the manglings before Swift 4.
var old = strings.Fields(`
_TF4game3runFT_T_ _TF4game3runFT4withSi_T_ _TF4game3runFTSi4nameSS_Sb _TF4game3runFzT_T_ _TF4game3runurFxx _TF4game3runu0_rFTxq__T_ _TF4game3runuRxs8HashablerFxT_ _TF4game3runuRxS_5SoundrFxT_
_TF4game3runuRxCS_6EnginerFxT_ _TF4game3runuRxs8Sequencewx4ItemzSirFxT_ _TF4game3runuRxs8SequenceWx4Item5Index_zxrFxT_ _TF4game3runuRxs8Sequencewx4Items8HashablerFxT_ _TF4game3runuRxlUrFxT_ _TF4game3runuRxlRrFxT_
_TF4game3runuRxlNrFxT_ _TF4game3runuRxlTrFxT_ _TF4game3runuRxlE64_16rFxT_ _TF4game3runuRxle64rFxT_ _TF4game3runuRxlM64_16rFxT_ _TF4game3runuRxlm64rFxT_ _TF4game3runu_z_rFxqd0__ _TF4game3runuzrFT_T_
_TFC4game6Engine4stepfT_T_ _TFC4game6Engine4stepfT2bySi_VS_5Score _TZFC4game6Engine4stepfT_T_ _TFC4game6EnginecfT_S0_ _TFC4game6EngineCfT_S0_ _TFC4game6EngineD _TFC4game6Engined _TFC4game6EngineE _TFC4game6Enginee
_TFV4game5ScoreCfT_S0_ _TFC4game6Engineg5countSi _TFC4game6Engines5countSi _TFC4game6Enginem5countSi _TFC4game6Enginew5countSi _TFC4game6EngineW5countSi _TFC4game6Engineau5countSi _TFC4game6Enginelu5countSi
_TF4gameaO3barSi _TF4gamelO3barSi _TF4gameao3barSi _TF4gamelo3barSi _TF4gameap3barSi _TF4gamelp3barSi _TF4gameG3barSi _TF4gamer3barSi _TF4gameM3barSi _TF4gameaz3barSi
_TFC4game6Engineg9subscriptFSiSS _TFC4game6EnginesP5_FILE9subscriptFSiSS _TiC4game6Engine9subscriptFT1iSi_SS _Tv4game3barSi _TvC4game6Engine3barSi _TIvC4game6Engine3bariSi _TIvC4game6Engine3barSii _TIF4game3runFT4withSi_T_A_ _TIF4game3runFT_T_A0_
_TFF4game3runFT_T_U_FT_T_ _TFF4game3runFT_T_U0_FSiT_ _TFF4game3runFT_T_u_FT_T_ _TFF4game3runFT_T_L_5innerFT_T_ _TFCF4game3runFT_T_L0_5Inner4stepfT_T_ _TF4gameP5_FILE3runFT_T_ _TFC4gameP5_FILE6Engine4stepfT_T_
_TFE4gameSi6doublefT_Si _TFE4gameVs5Slice3sumfT_Si _TFe4gameRxs8HashablerVs5Slice3sumfT_x _TFP4game5Sound4playfT_T_ _TF4gameoi1pFTSiSi_Si _TF4gameop1sFSiSi _TF4gameoP1nFSiSi _TF4gameX5Caf_dmaFT_T_ _TF4gameXoi7p_qcaDcFTSiSi_Si _TF4gameoi1bFT_T_
_TMP4game _TMPC4game6Engine _TMaC4game6Engine _TMLC4game6Engine _TMmC4game6Engine _TMnC4game6Engine _TMfC4game6Engine _TMpP4game5Sound _TMp4game5Sound _TMC4game6Engine _TMGSaSi_ _TMVV4game5Score4Part
_TPA__TF4game3runFT_T_ _TPAo__TF4game3runFT_T_ _TPA_ _TPA__TTRXFo__dSi_XFo__iSi_ _TToFC4game6Engine4stepfT_T_ _TTOFSC3fooFSiSi _TTDFC4game6Engine4stepfT_T_ _TTdFC4game6Engine4stepfT_T_ _TTVFC4game6Engine4stepfT_T_
_TwalC4game6Engine _TwcaC4game6Engine _TwstV4game5Score _TWVC4game6Engine _TWvdvC4game6Engine3barSi _TWvivC4game6Engine3barSi _TWPV4game5Scores8HashableS_ _TWGV4game5Scores8HashableS_ _TWIV4game5Scores8HashableS_ _TWaV4game5Scores8HashableS_
_TWlV4game5ScoreS0_s8HashableS_ _TWLV4game5ScoreS0_s8HashableS_ _TWtV4game5ScoreS_5SoundS_4Item _TWTV4game5ScoreS_5SoundS_4ItemS_4Mute _TTWV4game5Scores8HashableS_FS1_g9hashValueSi _TTRXFo_dSi_dSS_XFo_iSi_iSS_ _TTrXFo__dSi_XFo__iSi_
_TTRGrXFo_dx_oPs5Error__XFo_ix_iPS___ _TTRXFdCb_dSi__XFtCc_eSi__ _TTRXFgCm_lSi__XFoCO_gSi__ _TTRXFoCw_oSi_aSS_XFo_oSi_DSS_ _TTRXFo_dSi_zoPs5Error__XFo_dSi_zoPS___ _TTRXFohG_dSi_dSS_XFo_iSi_iSS_ _TTRXFoHGr_dx__XFo_ix__ _TTRXFogr_dx__XFo_ix__
_TTSg5Si___TF4game3runurFxx _TTSgq5Si_SS___TF4game3runu0_rFTxq__T_ _TTSr5Si___TF4game3runurFxx _TTSg5SiSis8Hashables__TF4game3runurFxx _TTSg5SiSis8Hashables___TF4game3runurFxx _TTSg5Si_S_s8Hashables___TF4game3runurFxx
_TTSf1n_d_g_o_s_dgs_i_k___TF4game3runFT_T_ _TTSfq1n___TF4game3runFT_T_ _TTSf1cl20_TF4game1fU_FT_T_abcSiSS___TF4game3runFT_T_ _TTSf1cpfr14_TF4game1fFT_T____TF4game3runFT_T_ _TTSf1cpg3abc___TF4game3runFT_T_ _TTSf1cpi12___TF4game3runFT_T_
_TTSf1cpfl3___TF4game3runFT_T_ _TTSf1cpse0v3abc___TF4game3runFT_T_ _TTSf1cpse1v3abc___TF4game3runFT_T_ _TTSf1cpx___TF4game3runFT_T_ _TTSg5Si___TTSf1n___TF4game3runurFxx _TTSg5Si__ _TTSg5Si_ _TTSx _TTS
_TtC4game6Engine _TtCC4game6Engine4Part _TtGC4game3BoxSi_ _TtGV4game3BoxSiSS_ _TtGCC4game3Box4PartSi_SS_ _TtGO4game4KindSi_ _TtP4game5Sound_ _TtP4game5SoundS_4Mute_ _TtP_ _TtPs9AnyObject_ _TtPMP_ _TtMSi _TtXMtSi _TtXMTSi _TtXMoSi _TtXPMtP_ _TtXPP_
_TtBf32_ _TtBi8_ _TtBv4Bi8_ _TtBv4Bf32_ _TtBv4Bp _TtBb _TtBB _TtBO _TtBo _TtBp _TtBt _TtBw _TtBx _TtSa _TtSb _TtSc _TtSd _TtSf _TtSi _TtSV _TtSv _TtSP _TtSp _TtSq _TtSQ _TtSR _TtSr _TtSS _TtSu _TtGSQSi_ _TtGSqGSaSi__
_TtbSiSu _TtcSiSu _TtFSiSu _TtFzSiSu _TtFySiSu _TtFZSiSu _TtFDdSiSu _TtFDrSiSu _TtFYCs9MainActorSiSu _TtKT_Si _TtXfSiSu _TtXoSi _TtXuSi _TtXwSi _TtXbSi _TtXBiSi_ _TtXBmSiiSS_ _TtXBGrmx_Si_ _TtDSi _TtERR _TtERx _TtTSiSS_ _TttSiSS_ _TtT1aSi1bSS_ _TtT_ _Ttt_ _TtRSi _TtkSi
_Ttx _Ttq_ _Ttqd__ _Ttqd0_1_ _Ttwx4Item _TtwxP4game5Sound4Item _TtWx4Item5Index_ _Ttqx4Item _TtQSi4Item _TtQQSi4Item5Index _TtQs4Item _TtQu _Tta4game4Name _TtTwx4ItemwxS__ _TtTP4game5Sound_PS0___ _TtTV4game5ScoreS0_S__
_T _TF _TF4game _TF4gam _Tt _TtX _TtXZ _TW _TWZ _TT _TTZ _TI _TI4game _TFZ _TM _Tw _Twzz _TtBf _TtBf32 _TtG _TtGSi_ _TtGSa _TtS9_ _TtB _TtBv _TtBv4 _TtBv4B _TtT _TtP _TtP4game _Ttu _Ttur _TtuR _TtuRx _TtuRxl _TtuRxlZ _TtXF _TtXFo _TtXFo_ _TtXFo__ _TtXFo_d _TtXFo__q _TtXFz _TtXFoCz _TF4game3runFT_T_suffix
`)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	seen := map[string]bool{}
	put := func(name string) {
		if !seen[name] {
			seen[name] = true
			fmt.Fprintln(out, name)
		}
	}
	cross := func(operands, operators []string) {
		for i, operand := range operands {
			put("$s" + operand + "D")
			put("$s" + operand)
			// Every operator meets some operands, every operand some operators.
			for j, operator := range operators {
				if i < 3 || (i+j)%23 == 0 {
					put("$s" + operand + operator)
				}
			}
		}
	}
	cross(types, ofType)
	cross(members, ofMember)
	cross(conformances, ofConformance)
	for _, t := range types {
		put("$s4game5valve" + t + "vp")
		put("$s4game3runyy" + t + "F")
		put("$s4game3run" + t + "yF")
		put("$s4game3run1a1byy" + t + "_" + t + "tF")
		put("$sSay" + t + "GSgMa")
	}
	for _, name := range append(whole, old...) {
		put(name)
	}
}
